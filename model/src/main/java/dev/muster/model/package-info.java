package dev.muster.model;
