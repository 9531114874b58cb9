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
    void format(String options, String format) {
        FakeHost host = new FakeHost().reply("QueryPartitions", "{\"partitions\":[]}").reply("QueryNodes", "{\"nodes\":[],\"now\":0}");
        assertThat(host.run("sinfo " + options).out()).contains("format      = " + format + "\n");
    }
}
