package dev.muster.journal;
