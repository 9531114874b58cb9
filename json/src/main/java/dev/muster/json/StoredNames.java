package dev.muster.json;

/**
 * Names that components of records have in journals and messages where their names in Java are newer: state that an
 * older version wrote stays readable.
 */
final class StoredNames {
    private StoredNames() {}

    /** @param type record of the component */
    static String of(Class<?> type, String component) {
        if (!component.equals("licenses")) {
            return component;
        }
        return switch (type.getName()) {
            case "dev.muster.core.state.Allocation",
                    "dev.muster.core.state.Change$PolicyChanged",
                    "dev.muster.model.accounting.DbdMessages$Policy" -> "licences";
            default -> component;
        };
    }
}
