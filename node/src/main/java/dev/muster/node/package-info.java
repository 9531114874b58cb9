package dev.muster.node;
