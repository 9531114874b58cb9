package dev.muster.lua;

import org.jspecify.annotations.Nullable;

/**
 * A table that is empty for iterations, and whose fields are asked of the host one by one.
 *
 * @param index gets the table and the name
 * @param newIndex gets the table, the name and the value; null makes assignments stay in the script
 */
public record LiveTable(LuaFunction index, @Nullable LuaFunction newIndex) {}
