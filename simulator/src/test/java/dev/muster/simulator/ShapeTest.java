package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CaseTree;
import com.sun.source.tree.CatchTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.DoWhileLoopTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.ForLoopTree;
import com.sun.source.tree.IfTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.tree.WhileLoopTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Measures every file and method, and every record and class of the main sources. What is over a limit stands in the
 * list of its room below {@code shape/}, as a line of rule, place, figure and reason. A line there that is not needed
 * any more, or whose figure is too high, fails as well, so that the lists only become shorter; {@code -Dshape.shorten}
 * shortens them.
 */
class ShapeTest {
    /** Cyclomatic complexity of a method with its lambdas; a switch counts as one decision, its guards one each. */
    private static final int COMPLEXITY_MAX = 15;

    private static final int METHOD_LINES_MAX = 60;
    private static final int TEST_METHOD_LINES_MAX = 75;
    private static final int FILE_LINES_MAX = 800;
    private static final int COMPONENTS_MAX = 10;
    private static final int FIELDS_MAX = 20;
    private static final Path EXCEPTIONS = Repository.ROOT.resolve("simulator/src/test/resources/shape");

    /** Rule and place, and the figure. */
    private static final Map<String, Integer> OVER = new TreeMap<>();

    @BeforeAll
    static void measure() throws IOException {
        List<Path> files = Repository.sources();
        for (Path file : files) {
            over(
                    "file",
                    Repository.ROOT.relativize(file).toString(),
                    Repository.lines(file).size(),
                    FILE_LINES_MAX);
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        JavacTask task = (JavacTask) compiler.getTask(
                null, manager, d -> {}, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
        SourcePositions positions = Trees.instance(task).getSourcePositions();
        for (CompilationUnitTree unit : task.parse()) {
            new Measure(unit, positions).scan(unit, null);
        }
    }

    private static void over(String rule, String place, int figure, int limit) {
        if (figure > limit) {
            OVER.merge(rule + " " + place, figure, Math::max);
        }
    }

    private static Map<String, Integer> listed() {
        Map<String, Integer> listed = new TreeMap<>();
        for (Path list : lists()) {
            for (String line : Repository.lines(list)) {
                String[] words = line.split(" ", 4);
                listed.put(words[0] + " " + words[1], Integer.parseInt(words[2]));
            }
        }
        return listed;
    }

    private static List<Path> lists() {
        try (Stream<Path> files = Files.list(EXCEPTIONS)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes the lines out that are not needed any more, and lowers figures that are too high. */
    private static void shorten(Path list) throws IOException {
        List<String> shorter = new ArrayList<>();
        for (String line : Repository.lines(list)) {
            String[] words = line.split(" ", 4);
            int figure = OVER.getOrDefault(words[0] + " " + words[1], 0);
            if (figure > 0) {
                words[2] = Integer.toString(Math.min(figure, Integer.parseInt(words[2])));
                shorter.add(String.join(" ", words));
            }
        }
        Files.write(list, shorter);
    }

    @Test
    void onlyListedPlacesExceedTheShapeLimits() {
        Map<String, Integer> listed = listed();
        List<String> worse = new ArrayList<>();
        OVER.forEach((place, figure) -> {
            if (figure > listed.getOrDefault(place, 0)) {
                worse.add(place + " " + figure);
            }
        });
        assertThat(worse).isEmpty();
    }

    @Test
    void noExceptionIsLargerThanItsPlace() throws IOException {
        if (System.getProperty("shape.shorten") != null) {
            for (Path list : lists()) {
                shorten(list);
            }
        }
        List<String> spent = new ArrayList<>();
        listed().forEach((place, figure) -> {
            if (figure > OVER.getOrDefault(place, 0)) {
                spent.add(place + " " + figure + " is " + OVER.getOrDefault(place, 0));
            }
        });
        assertThat(spent).isEmpty();
    }

    /** Walks one file and notes each class and method. */
    private static final class Measure extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final boolean test;
        private final Deque<String> classes = new ArrayDeque<>();

        Measure(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
            this.test = unit.getSourceFile().getName().contains("/src/test/");
        }

        private int lines(Tree tree) {
            var map = unit.getLineMap();
            return (int) (map.getLineNumber(positions.getEndPosition(unit, tree))
                    - map.getLineNumber(positions.getStartPosition(unit, tree))
                    + 1);
        }

        private String place() {
            String pkg = String.valueOf(unit.getPackageName()).replaceFirst("^dev\\.muster\\.", "");
            return pkg + "." + String.join(".", classes.reversed());
        }

        @Override
        public Void visitClass(ClassTree tree, Void none) {
            classes.push(
                    tree.getSimpleName().isEmpty()
                            ? "anonymous"
                            : tree.getSimpleName().toString());
            int fields = 0;
            int components = 0;
            for (Tree member : tree.getMembers()) {
                if (member instanceof VariableTree v
                        && !v.getModifiers().getFlags().contains(Modifier.STATIC)) {
                    if (tree.getKind() == Tree.Kind.RECORD) {
                        components++;
                    } else {
                        fields++;
                    }
                }
            }
            if (!test) {
                over("fields", place(), fields, FIELDS_MAX);
                over("components", place(), components, COMPONENTS_MAX);
            }
            super.visitClass(tree, null);
            classes.pop();
            return null;
        }

        @Override
        public Void visitMethod(MethodTree tree, Void none) {
            if (tree.getBody() != null && positions.getStartPosition(unit, tree) >= 0) {
                String place = place() + "." + tree.getName();
                over("lines", place, lines(tree.getBody()), test ? TEST_METHOD_LINES_MAX : METHOD_LINES_MAX);
                if (test) {
                    return super.visitMethod(tree, null);
                }
                Decisions decisions = new Decisions();
                decisions.scan(tree.getBody(), null);
                over("complexity", place, decisions.count + 1, COMPLEXITY_MAX);
                over("ternaries", place, decisions.nestedTernaries, 0);
            }
            return super.visitMethod(tree, null);
        }
    }

    /** Counts decisions; classes inside of a method are measured by themselves. */
    private static final class Decisions extends TreeScanner<Void, Void> {
        private int count;
        private int nestedTernaries;
        private int ternaries;

        @Override
        public Void visitClass(ClassTree tree, Void none) {
            return null;
        }

        @Override
        public Void visitIf(IfTree tree, Void none) {
            count++;
            return super.visitIf(tree, null);
        }

        @Override
        public Void visitForLoop(ForLoopTree tree, Void none) {
            count++;
            return super.visitForLoop(tree, null);
        }

        @Override
        public Void visitEnhancedForLoop(EnhancedForLoopTree tree, Void none) {
            count++;
            return super.visitEnhancedForLoop(tree, null);
        }

        @Override
        public Void visitWhileLoop(WhileLoopTree tree, Void none) {
            count++;
            return super.visitWhileLoop(tree, null);
        }

        @Override
        public Void visitDoWhileLoop(DoWhileLoopTree tree, Void none) {
            count++;
            return super.visitDoWhileLoop(tree, null);
        }

        @Override
        public Void visitCatch(CatchTree tree, Void none) {
            count++;
            return super.visitCatch(tree, null);
        }

        @Override
        public Void visitSwitch(SwitchTree tree, Void none) {
            count++;
            return super.visitSwitch(tree, null);
        }

        @Override
        public Void visitSwitchExpression(SwitchExpressionTree tree, Void none) {
            count++;
            return outside(() -> super.visitSwitchExpression(tree, null));
        }

        @Override
        public Void visitLambdaExpression(LambdaExpressionTree tree, Void none) {
            return outside(() -> super.visitLambdaExpression(tree, null));
        }

        @Override
        public Void visitCase(CaseTree tree, Void none) {
            if (tree.getGuard() != null) {
                count++;
            }
            return super.visitCase(tree, null);
        }

        @Override
        public Void visitConditionalExpression(ConditionalExpressionTree tree, Void none) {
            count++;
            ternaries++;
            if (ternaries > 1) {
                nestedTernaries++;
            }
            super.visitConditionalExpression(tree, null);
            ternaries--;
            return null;
        }

        @Override
        public Void visitBinary(BinaryTree tree, Void none) {
            if (tree.getKind() == Tree.Kind.CONDITIONAL_AND || tree.getKind() == Tree.Kind.CONDITIONAL_OR) {
                count++;
            }
            return super.visitBinary(tree, null);
        }

        /** Bodies of lambdas and arms of switches are expressions of their own. */
        private Void outside(Runnable scan) {
            int before = ternaries;
            ternaries = 0;
            scan.run();
            ternaries = before;
            return null;
        }
    }
}
