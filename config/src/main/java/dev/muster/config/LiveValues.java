package dev.muster.config;

import java.util.function.UnaryOperator;

/**
 * Values of {@code scontrol show config} that do not come from the file.
 *
 * @param bootTime of the controller, as printed
 * @param userWithId turns {@code root} into {@code root(0)}
 */
public record LiveValues(String bootTime, int nextJobId, String version, UnaryOperator<String> userWithId) {}
