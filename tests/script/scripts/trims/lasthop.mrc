# Cut at the last hop: the NACK says so. REQ(rsp.nack.trim-last-hop)
config planes 1

< WRITE ONLY psn 100 trim lasthop
> NACK psn 100 reason trimmed_lasthop ev 224 ts echo
expect placed nothing
