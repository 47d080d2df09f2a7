# A QP that grants no remote write. REQ(rsp.mr.every-packet) REQ(rsp.place.access-nak)
config access read_only

< WRITE ONLY psn 100
> ACK msn 0 nak remote_access
expect qp_error remote_access by peer
expect placed nothing
