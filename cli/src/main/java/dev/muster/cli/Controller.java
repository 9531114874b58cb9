package dev.muster.cli;

import dev.muster.model.Json;

/** The way to slurmctld as commands see it. */
public interface Controller {
    /** Sends one message of {@code dev.muster.model.api} by name; the reply's tree. */
    Json.Obj call(String message, Json.Obj request) throws SlurmException;
}
