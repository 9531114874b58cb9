package dev.muster.model.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DigitsTest {
    @Test
    void isWhatThePatternSays() {
        for (String text : new String[] {"", "0", "7", "12", "123", "1234", "-1", "+1", " 1", "1 ", "a", "1a", "/", ":", "\u0661", "00012"}) {
            for (int most = 1; most < 6; most++) {
                assertEquals(text.matches("[0-9]{1," + most + "}"), Digits.only(text, most), text + " of " + most);
            }
        }
    }
}
