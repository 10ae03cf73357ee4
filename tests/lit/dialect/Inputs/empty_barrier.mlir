"util.optimization_barrier"() : () -> ()
