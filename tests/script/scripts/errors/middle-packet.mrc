# Only the middle packet of a message lies outside its region: every packet is checked on its own.
# REQ(rsp.mr.every-packet) REQ(rsp.error.in-order)
config mr 2000

< WRITE FIRST psn 100 dmalen 3000
expect placed 1024 at 0
< WRITE LAST psn 102 dmalen 3000 at 0
expect placed 952 at 0
< WRITE MIDDLE psn 101 dmalen 3000
> ACK msn 0 nak remote_access
expect qp_error remote_access by peer
