package dev.muster.model.job;

/**
 * How a process ended, as {@code wait4} told it: an exit code or a signal.
 *
 * @param code 0…255
 * @param signal 0 if it exited by itself
 * @param core a core file was dumped
 */
public record ExitStatus(int code, int signal, boolean core) implements Comparable<ExitStatus> {
    public static final ExitStatus NONE = new ExitStatus(0, 0, false);
    /** The signal that stands for an end by the kernel's OOM killer. */
    private static final int OUT_OF_MEMORY = 125;

    public static ExitStatus exited(int code) {
        return new ExitStatus(code & 0xff, 0, false);
    }

    public static ExitStatus signaled(int signal) {
        return new ExitStatus(0, signal, false);
    }

    /** Reads the status word of {@code wait(2)}. */
    public static ExitStatus ofWaitStatus(int status) {
        int signal = status & 0x7f;
        return signal == 0 ? exited(status >> 8 & 0xff) : new ExitStatus(0, signal, (status & 0x80) != 0);
    }

    public boolean isSuccess() {
        return code == 0 && signal == 0;
    }

    /** Returns whether the process was killed because memory was short. */
    public boolean isOutOfMemory() {
        return signal == OUT_OF_MEMORY;
    }

    /** The status word of {@code wait(2)}. */
    public int waitStatus() {
        if (signal == 0) {
            return code << 8;
        }
        return signal | (core ? 0x80 : 0);
    }

    /** The exit code that a shell reports: the code, or 128 plus the signal. */
    public int shellCode() {
        return signal == 0 ? code : 128 + signal;
    }

    /** Orders by severity as Slurm keeps the "highest" status of many tasks: a signal outranks any exit code. */
    @Override
    public int compareTo(ExitStatus other) {
        return signal != other.signal ? Integer.compare(signal, other.signal) : Integer.compare(code, other.code);
    }

    /** Slurm's {@code code:signal}. */
    @Override
    public String toString() {
        return code + ":" + signal;
    }
}
