/** The connection of jobcomp/kafka to its brokers, by Kafka's own client. An installation may do without it. */
package dev.muster.kafka;
