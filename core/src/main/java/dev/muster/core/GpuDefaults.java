package dev.muster.core;

import dev.muster.model.Codec;
import dev.muster.model.JobDesc;
import dev.muster.model.Json;
import dev.muster.model.ResourceRequest;

/** What the configuration has a job ask for where it does not say: CPUs and memory for each GPU. */
final class GpuDefaults {
    private GpuDefaults() {}

    static JobDesc with(JobDesc desc, Settings settings) {
        ResourceRequest r = desc.request();
        boolean gpus = GresRequest.gpus(r.tresPerJob()) + GresRequest.gpus(r.tresPerNode()) + GresRequest.gpus(r.tresPerTask())
                + GresRequest.gpus(r.tresPerSocket()) > 0;
        String[] own = settings.options().getOrDefault(Settings.GPU_DEFAULTS + desc.partition().split(",")[0], "0,0").split(",");
        String[] all = settings.options().getOrDefault(Settings.GPU_DEFAULTS, "0,0").split(",");
        long cpus = gpus && r.cpusPerTask() == 0 && r.cpusPerGpu() == 0 ? first(own[0], all[0]) : 0;
        boolean memorySaid = r.memPerNodeMb() > 0 || r.memPerCpuMb() > 0 || r.memPerGpuMb() > 0 || r.memAll();
        long memoryMb = gpus && !memorySaid ? first(own[1], all[1]) : 0;
        if (cpus == 0 && memoryMb == 0) {
            return desc;
        }
        Json.Obj out = Json.object(Codec.encode(r));
        if (cpus > 0) {
            out.put("cpusPerGpu", cpus);
        }
        if (memoryMb > 0) {
            out.put("memPerGpuMb", memoryMb);
        }
        return desc.withRequest(Codec.bind(out, ResourceRequest.class));
    }

    private static long first(String own, String all) {
        long mine = Long.parseLong(own);
        return mine > 0 ? mine : Long.parseLong(all);
    }
}
