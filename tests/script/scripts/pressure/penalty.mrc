# At the sender: a penalty of 127 takes nearly all that is acknowledged off the window; nothing more
# leaves. The restore flag brings the window back.
# REQ(cc.nscc.penalty) REQ(wire.ccstate.layout)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 11120 evs 16

post write 30720 bytes id 1
> WRITE FIRST psn 100
> WRITE MIDDLE psn 101..109                          # 10 x 1112 bytes
expect info cwnd_bytes 11120
+10us < SACK cack 104 pen 127
expect nothing
expect info cwnd_bytes 1112
+1us < SACK cack 109 pen 0 restore
> WRITE MIDDLE psn 110..119
expect info cwnd_bytes 11120
ignore WRITE
