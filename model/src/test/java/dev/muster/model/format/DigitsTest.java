package dev.muster.model.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DigitsTest {
    @Test
    void digitsCheckAgreesWithItsPattern() {
        for (String text : new String[] {
            "", "0", "7", "12", "123", "1234", "-1", "+1", " 1", "1 ", "a", "1a", "/", ":", "\u0661", "00012"
        }) {
            for (int most = 1; most < 6; most++) {
                assertEquals(text.matches("[0-9]{1," + most + "}"), Digits.only(text, most), text + " of " + most);
            }
        }
    }

    @Test
    void unitsMultiplyByPowersOf1024() {
        assertEquals(0, Digits.parseNumber("0"));
        assertEquals(12, Digits.parseNumber("012"));
        assertEquals(2048, Digits.parseNumber("2k"));
        assertEquals(2048, Digits.parseNumber("2K"));
        assertEquals(3L << 20, Digits.parseNumber("3m"));
        assertEquals(9_999_999_999L << 20, Digits.parseNumber("9999999999M"));
    }

    @Test
    void malformedNumberIsNotParsed() {
        for (String text : new String[] {
            "", "k", "M", "-1", "+1", "1g", "1kk", " 1", "1 ", "1.5", "12345678901", "12345678901k", "\u0661"
        }) {
            assertEquals(-1, Digits.parseNumber(text), text);
        }
    }
}
