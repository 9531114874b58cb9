package dev.muster.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Copies of records with other values. */
class RecordEditorTest {
    enum Colour {
        RED,
        GREEN
    }

    record Size(int width, long height) {}

    record Sheet(String name, Size size, boolean ruled, Colour colour, List<String> lines) {}

    private static final Sheet SHEET = new Sheet("a", new Size(2, 3), false, Colour.RED, List.of("x"));

    @Test
    void onlyTheNamedComponentsDiffer() {
        Sheet other = RecordEditor.of(SHEET)
                .set("ruled", true)
                .set("colour", Colour.GREEN)
                .set("size.height", 9L)
                .set("size.width", 7L)
                .record();
        assertThat(other).isEqualTo(new Sheet("a", new Size(7, 9), true, Colour.GREEN, List.of("x")));
        assertThat(SHEET.size).isEqualTo(new Size(2, 3));
        assertThat(RecordEditor.of(SHEET).record()).isEqualTo(SHEET);
    }

    @Test
    void editedComponentIsReadBack() {
        RecordEditor<Sheet> edit = RecordEditor.of(SHEET).set("size.width", 5);
        assertThat(edit.number("size.width")).isEqualTo(5);
        assertThat(edit.at("size")).isEqualTo(new Size(5, 3));
        assertThat(edit.text("name")).isEqualTo("a");
        assertThat(edit.flag("ruled")).isFalse();
        assertThat(edit.set("colour", "GREEN").text("colour")).isEqualTo("GREEN");
        edit.part("size").set("height", 4L);
        assertThat(edit.record().size()).isEqualTo(new Size(5, 4));
    }

    @Test
    void aValueOfAnotherTypeIsRefused() {
        RecordEditor<Sheet> edit = RecordEditor.of(SHEET);
        assertThatIllegalArgumentException().isThrownBy(() -> edit.set("name", 1L));
        assertThatIllegalArgumentException().isThrownBy(() -> edit.set("title", "b"));
        assertThatExceptionOfType(Json.MalformedException.class)
                .isThrownBy(() -> edit.set("size.width", 1L << 40))
                .withMessageContaining("32-bit");
    }
}
