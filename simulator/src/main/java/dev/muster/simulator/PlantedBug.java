package dev.muster.simulator;

/** Bugs that can be planted, to see that the simulator catches them. */
enum PlantedBug {
    NONE("nothing"),
    REPLY_BEFORE_SYNC("the client hears of its job before the record is durable"),
    EFFECTS_BEFORE_SYNC("nodes are told before the records are durable"),
    ACK_BEFORE_DURABLE("a node may forget its report before the record is durable"),
    NO_REQUEST_DEDUPE("a repeated submit is a new job"),
    NODE_WITHOUT_TOMBSTONES("the node runs again what it ran before"),
    NO_BOOT_FENCE("the node takes launches meant for an earlier boot"),
    DOUBLE_RELEASE("a repeated JobDone frees the resources again"),
    REBOOT_NOT_NOTICED("the boot id of a registration is not looked at"),
    ID_COUNTER_NOT_RESTORED("numbers start again after a restart"),
    LOST_END_NOT_DERIVED("an end that did not reach its node is not sent again"),
    LOST_LAUNCH_NOT_DERIVED("a launch that did not reach its node is not sent again"),
    REPORT_NOT_KEPT("the node forgets its reports when the connection breaks"),
    ANSWERS_NOT_IN_SNAPSHOT("snapshots lack the answers kept for repeated requests"),
    BLOBS_NOT_SYNCED("scripts are not durable when the journal forgets them");

    private final String sentence;

    PlantedBug(String sentence) {
        this.sentence = sentence;
    }

    String sentence() {
        return sentence;
    }
}
