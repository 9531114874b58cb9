package dev.muster.simulator;

/** The point of its work at which a {@link SimController} dies next. */
final class CrashPoint {
    /** Thrown where the process dies. */
    static final class Crash extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Crash() {
            super("crash", null, false, false);
        }
    }

    private final World world;
    private String armed = "";
    private int count;

    CrashPoint(World world) {
        this.world = world;
    }

    /** The next time the process comes to the point for the count-th time it dies there. */
    void arm(String point, int count) {
        armed = point;
        this.count = count;
    }

    void disarm() {
        armed = "";
    }

    /** @throws Crash if the process dies at this point */
    void reached(String point) {
        if (point.equals(armed) && --count <= 0) {
            world.log("ctld", "dies at " + point);
            world.saw("crash at " + point);
            throw new Crash();
        }
    }
}
