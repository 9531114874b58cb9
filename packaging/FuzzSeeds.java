import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes the seeds of a fuzz target as files: FuzzSeeds CLASS DIRECTORY. */
class FuzzSeeds {
    public static void main(String[] args) throws Exception {
        var seeds = Class.forName(args[0]).getDeclaredMethod("seeds");
        seeds.setAccessible(true);
        int number = 0;
        for (Object seed : (List<?>) seeds.invoke(null)) {
            Files.write(Path.of(args[1], "seed-" + number++), (byte[]) seed);
        }
    }
}
