/** jobcomp/kafka: finished jobs as messages to Kafka's brokers, which the room kafka reaches. */
package dev.muster.controller.kafka;
