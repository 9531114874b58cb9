package dev.muster.cli.command;

import dev.muster.model.format.Digits;

/** Signal names and numbers of Linux. */
public final class Signals {
    /** No signal: the status of a task when the kernel killed a process of its step for lack of memory. */
    static final int OUT_OF_MEMORY = 125;

    public static final int HUP = 1;
    public static final int INT = 2;
    public static final int QUIT = 3;
    public static final int KILL = 9;
    public static final int USR1 = 10;
    public static final int USR2 = 12;
    public static final int ALRM = 14;
    public static final int TERM = 15;
    public static final int CONT = 18;
    static final int STOP = 19;

    private static final String[] NAMES = {
        "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS"
    };
    /** Texts of strsignal, for the lines about killed tasks. */
    private static final String[] TEXTS = {
        "",
        "Hangup",
        "Interrupt",
        "Quit",
        "Illegal instruction",
        "Trace/breakpoint trap",
        "Aborted",
        "Bus error",
        "Floating point exception",
        "Killed",
        "User defined signal 1",
        "Segmentation fault",
        "User defined signal 2",
        "Broken pipe",
        "Alarm clock",
        "Terminated",
        "Stack fault",
        "Child exited",
        "Continued",
        "Stopped (signal)",
        "Stopped",
        "Stopped (tty input)",
        "Stopped (tty output)",
        "Urgent I/O condition",
        "CPU time limit exceeded",
        "File size limit exceeded",
        "Virtual timer expired",
        "Profiling timer expired",
        "Window changed",
        "I/O possible",
        "Power failure",
        "Bad system call"
    };

    private static final int LAST = 64;

    private Signals() {}

    /** Number of {@code TERM}, {@code SIGTERM}, {@code 15}; -1 if it is none. */
    public static int number(String text) {
        long n = Digits.parseNumber(text);
        if (n >= 0) {
            return n <= LAST ? (int) n : -1;
        }
        String up = Texts.upper(text);
        String name = up.startsWith("SIG") ? up.substring(3) : up;
        for (int i = 1; i < NAMES.length; i++) {
            if (NAMES[i].equals(name)) {
                return i;
            }
        }
        if (name.equals("POLL")) {
            return 29;
        }
        if (name.equals("CLD")) {
            return 17;
        }
        if (name.equals("IOT")) {
            return 6;
        }
        return -1;
    }

    /** {@code TERM}, "" for one without a name. */
    public static String name(int number) {
        return number > 0 && number < NAMES.length ? NAMES[number] : "";
    }

    public static String text(int number) {
        if (number == OUT_OF_MEMORY) {
            return "Out Of Memory";
        }
        if (number > 0 && number < TEXTS.length) {
            return TEXTS[number];
        }
        return "Unknown signal " + number;
    }
}
