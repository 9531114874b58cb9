package dev.muster.cli;
