package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** sinfo -v names the format in force, its own where none was said. */
class SinfoVerboseTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -v       | partition:9 ,available:.5 ,time:.10 ,nodes:.6 ,statecompact:.6 ,nodelist:0
            -v -s -l | partition:9 ,available:.5 ,time:.10 ,nodeaiot:.16 ,nodelist:0
            -v -N    | nodelist:0 ,nodes:.6 ,partition:.9 ,statecompact:6
            -v -N -R | nodelist:0 ,nodes:.6 ,partition:.9 ,statecompact:6
            -v -l    | partition:9 ,available:.5 ,time:.10 ,size:.10 ,root:.4 ,oversubscribe:.8 ,\
            groups:.10 ,nodes:.6 ,statelong:.11 ,reservation:.11 ,nodelist:0
            -v -N -l | nodelist:0 ,nodes:.6 ,partition:.9 ,statelong:.11 ,cpus:4 ,socketcorethread:.8 ,memory:.6 ,\
            disk:.8 ,weight:.6 ,features:.8 ,reason:20
            -v -R    | reason:20 ,user:9 ,timestamp:19 ,nodelist:0
            -v -R -l | reason:20 ,userlong:12 ,timestamp:19 ,statecompact:6 ,nodelist:0
            -v -o %P | %P
            """)
    void sinfoVerboseNamesTheFormatInForce(String options, String format) {
        FakeHost host = new FakeHost()
                .reply("QueryPartitions", "{\"partitions\":[]}")
                .reply("QueryNodes", "{\"nodes\":[],\"now\":0}");
        assertThat(host.run("sinfo " + options).out()).contains("format      = " + format + "\n");
    }

    /** What is said of nodes and rows: the lines that are true of each, and the states. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -v         | part_field,avail_flag,max_time_flag,partition_flag,state_flag                          | (null)
            -v -N      | node_field,node_format,part_field,partition_flag,state_flag                            | (null)
            -v -R      | filtering,reason_flag,reason_timestamp_flag,reason_user_flag                           | down
            -v -o %N   | -                                                                                      | (null)
            -v -N -R   | filtering,node_field,node_format,part_field,partition_flag,state_flag                  | down
            -v -p main | filtering,part_field,all_flag,avail_flag,max_time_flag,partition_flag,state_flag       | (null)
            -v -d -r -O port,cpus,StateLong | dead,filtering,responding,cpus_flag,port_flag,state_flag | (null)
            """)
    void sinfoVerboseNamesTheFlagsAndStates(String options, String set, String states) {
        FakeHost host = new FakeHost()
                .reply("QueryPartitions", "{\"partitions\":[]}")
                .reply("QueryNodes", "{\"nodes\":[],\"now\":0}");
        String out = host.run("sinfo " + options).out();
        assertThat(out.lines()
                        .filter(l -> l.matches(".*= ?true"))
                        .map(l -> l.split("[ =]")[0])
                        .collect(java.util.stream.Collectors.joining(",")))
                .isEqualTo(set.equals("-") ? "" : set);
        assertThat(out).contains("states      = " + states + "\n").contains("default_time_flag =false\n");
    }
}
