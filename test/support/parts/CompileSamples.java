import java.nio.file.*;
import java.util.List;
import javax.tools.ToolProvider;

/** Compiles Sample.java of every folder in the one that is named, each by itself: all of them have the same class. */
class CompileSamples {
    public static void main(String[] args) throws Exception {
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var folders = Files.newDirectoryStream(Path.of(args[0]), Files::isDirectory)) {
            for (var folder : folders) {
                var source = folder.resolve("Sample.java").toString();
                if (compiler.run(null, null, null, "-d", folder.toString(), source) != 0) System.exit(1);
            }
        }
    }
}
