package dev.muster.accounting;
