package dev.muster.rest.contract;

import dev.muster.cli.command.Controller;
import dev.muster.cli.shape.Field;
import java.util.List;

/**
 * A list that may be very long, in an answer: written row by row while slurmctld's reply is read, never a tree as a
 * whole.
 *
 * @param table what each row is made of
 * @param key equal for equal tables
 */
public record Listing(Controller.Rows rows, List<Field> table, String key) {}
