# An immediate whose turn comes without a posted receive is an error at once: there is no RNR in MRC.
# REQ(rsp.wimm.no-receive) REQ(svc.no-rnr)
config planes 1

< WRITE ONLY IMM psn 101 msn 1 imm 4 len 8
expect nothing                               # its turn has not come: a receive may still be posted
< WRITE ONLY psn 100 msn 0 len 8
> ACK msn 1 nak invalid_request
expect qp_error invalid_request by peer
expect state ERR
