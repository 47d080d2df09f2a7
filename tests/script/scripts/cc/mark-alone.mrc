# A mark without delay is the business of load balancing: the EV is skipped, the window stays.
# REQ(cc.nscc.ecn-alone) REQ(cc.nscc.table)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 11120 evs 4

post write 1024 bytes id 1
> WRITE ONLY psn 100 ev A
+10us < SACK cack 100 mark skip_once
expect ev A SKIP
expect info cwnd_bytes 11120
< ACK msn 1
expect completion id 1 success
