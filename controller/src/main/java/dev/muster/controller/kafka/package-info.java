/** jobcomp/kafka: finished jobs as messages to Kafka's brokers. Loaded only where JobCompType names it. */
package dev.muster.controller.kafka;
