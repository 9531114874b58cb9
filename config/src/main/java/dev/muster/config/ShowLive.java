package dev.muster.config;

import java.util.function.UnaryOperator;

/**
 * What {@code scontrol show config} tells beside the file's contents.
 *
 * @param bootTime of the controller, as printed
 * @param userWithId turns {@code root} into {@code root(0)}
 */
public record ShowLive(String bootTime, int nextJobId, String version, UnaryOperator<String> userWithId) {}
