package dev.muster.rest;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What slurmctld and slurmdbd say of a small cluster. */
public final class Samples {
    private Samples() {}

    private static Json.Obj json(String text) {
        return Json.object(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }

    public static void fill(Map<String, Json.Obj> answers) {
        answers.put("QueryJobs", json("""
                {'now':1800000000,'lastUpdate':1799999999,'jobs':[{'jobId':7,'state':'RUNNING','flags':['COMPLETING'],
                 'name':'a','nodes':'n1',
                'details':[{'nodes':'n1','cpuIds':'0-1','memoryMb':10,'gres':'gpu:a:2(IDX:0-1)','sockets':1,
                'coresPerSocket':4,'cores':'0-1'}],
                'timeLimitMin':-1,'mailType':'BEGIN,TIME_LIMIT','exclusive':'USER','reason':'None'}]}"""));
        answers.put("QueryNodes", json("""
                {'now':1800000000,'nodes':[{'name':'n1','state':'MIXED','flags':['DRAIN','MAINT','NEXT_DOWN'],'cpus':4,
                 'metered':true,'watts':5,
                'partitions':['main'],'owner':3,'features':'a,b'}]}"""));
        answers.put("QueryPartitions", json("""
                {'now':1800000000,'partitions':[{'name':'1','state':'UP','maxTimeMin':-1,'isDefault':true,
                 'exclusiveUser':true,
                'preemptMode':'OFF','overSubscribe':'NO'}]}"""));
        answers.put(
                "QueryReservations",
                json("{'now':1800000000,'reservations':[{'name':'1','flags':['MAINT','SPEC_NODES'],"
                        + "'cores':[{'node':'n1','ids':'0'}]}]}"));
        answers.put("QueryLicenses", json("{'licenses':[{'name':'foo','total':4,'used':1}]}"));
        answers.put(
                "QueryDiagnostics",
                json("{'values':{'req_time':5},'rpcs':[{'name':'X','number':1,'count':2,'totalUs':9}],'users':[]}"));
        answers.put(
                "QueryShares",
                json("{'rows':[{'depth':0,'account':'root','rawShares':'1','level':-1,'tresRunMins':{'cpu':3},"
                        + "'grpTresMins':'cpu=4'}]}"));
        answers.put(
                "QueryConfig",
                json("{'now':1800000000,'lines':['x','ClusterName             = test','KillWait = 30 sec',"
                        + "'SlurmUser = root(0)']}"));
        answers.put("QueryAccounting", json("""
                {'now':1800000000,'cluster':'test','jobs':[{'job':{'jobId':7,'state':'COMPLETED',
                 'tresAllocated':'cpu=2,mem=4G,gres/gpu:a=1'},
                'steps':[{'stepId':-5,'state':'COMPLETED','nodes':'n1'}]},
                {'job':{'jobId':8,'state':'FAILED','flags':'SchedBackfill','endTime':1799999999,'exit':{'code':3,
                 'signal':0},'features':'[a*2&b]|c',
                'assocId':5,'reservation':'r','reservationId':6},'steps':[]},
                {'job':{'jobId':9,'state':'RUNNING','flags':'SchedMain,StartReceived','assocId':4,'features':'a'},
                 'steps':[]}]}"""));
        answers.put(
                "Show qos",
                json("{'rows':[{'Name':'normal','ID':'1','Flags':'DenyOnLimit','GrpTRES':'cpu=4',"
                        + "'MaxWall':'60','PreemptMode':'REQUEUE'}]}"));
        answers.put(
                "Show association",
                json("{'rows':[{'Cluster':'test','Account':'1','User':'','ID':'2',"
                        + "'ParentID':'1','ParentName':'root','Fairshare':'parent','QOS':'normal'}]}"));
        answers.put(
                "Show user",
                json("{'rows':[{'User':'1','AdminLevel':'OPERATOR','Coordinators':'1','Account':'1','ID':'4',"
                        + "'DefaultAccount':'1','DefaultWCKey':'k'}]}"));
        answers.put("Show account", json("{'rows':[{'Account':'1','Descr':'d','Org':'o','Coordinators':'ann'}]}"));
        answers.put(
                "Show cluster",
                json("{'rows':[{'Cluster':'1','ControlHost':'h','ControlPort':'6817','RPC':'1','TRES':'cpu=4'}]}"));
        answers.put(
                "Show tres",
                json("{'rows':[{'Type':'cpu','Name':'','ID':'1'},{'Type':'gres','Name':'gpu','ID':'1001'}]}"));
        answers.put(
                "Show wckey",
                json("{'rows':[{'WCKey':'*k','Cluster':'test','User':'ann','ID':'1'},"
                        + "{'WCKey':'1','Cluster':'test','User':'ann','ID':'2'}]}"));
        answers.put(
                "Show stats",
                json("{'rows':[{'Kind':'since','Name':'5'},{'Kind':'type','Name':'Show','Count':'2',"
                        + "'Average':'3','Total':'6'}]}"));
        answers.put("Show configuration", json("{'rows':[{'DbdHost':'h','DbdPort':'6819','ArchiveDir':'/tmp'}]}"));
    }
}
