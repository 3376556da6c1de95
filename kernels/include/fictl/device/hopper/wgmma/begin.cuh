// Text of wgmma for each width N, as macros: the registers of the accumulators and the numbers of
// the operands that follow them. Undefined again by wgmma/end.cuh.
//
// Why macros: an instruction with 4 to 128 registers is one asm statement, and the numbers of its
// operands are part of its text.

// The accumulators in the text, and as operands.
#define FICTL_D8 "%0, %1, %2, %3"
#define FICTL_R8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define FICTL_D16 FICTL_D8 ", %4, %5, %6, %7"
#define FICTL_R16 FICTL_R8, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define FICTL_D24 FICTL_D16 ", %8, %9, %10, %11"
#define FICTL_R24 FICTL_R16, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define FICTL_D32 FICTL_D24 ", %12, %13, %14, %15"
#define FICTL_R32 FICTL_R24, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define FICTL_D40 FICTL_D32 ", %16, %17, %18, %19"
#define FICTL_R40 FICTL_R32, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define FICTL_D48 FICTL_D40 ", %20, %21, %22, %23"
#define FICTL_R48 FICTL_R40, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define FICTL_D56 FICTL_D48 ", %24, %25, %26, %27"
#define FICTL_R56 FICTL_R48, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define FICTL_D64 FICTL_D56 ", %28, %29, %30, %31"
#define FICTL_R64 FICTL_R56, "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define FICTL_D72 FICTL_D64 ", %32, %33, %34, %35"
#define FICTL_R72 FICTL_R64, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define FICTL_D80 FICTL_D72 ", %36, %37, %38, %39"
#define FICTL_R80 FICTL_R72, "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define FICTL_D88 FICTL_D80 ", %40, %41, %42, %43"
#define FICTL_R88 FICTL_R80, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define FICTL_D96 FICTL_D88 ", %44, %45, %46, %47"
#define FICTL_R96 FICTL_R88, "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define FICTL_D104 FICTL_D96 ", %48, %49, %50, %51"
#define FICTL_R104 FICTL_R96, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define FICTL_D112 FICTL_D104 ", %52, %53, %54, %55"
#define FICTL_R112 FICTL_R104, "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define FICTL_D120 FICTL_D112 ", %56, %57, %58, %59"
#define FICTL_R120 FICTL_R112, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define FICTL_D128 FICTL_D120 ", %60, %61, %62, %63"
#define FICTL_R128 FICTL_R120, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define FICTL_D136 FICTL_D128 ", %64, %65, %66, %67"
#define FICTL_R136 FICTL_R128, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define FICTL_D144 FICTL_D136 ", %68, %69, %70, %71"
#define FICTL_R144 FICTL_R136, "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define FICTL_D152 FICTL_D144 ", %72, %73, %74, %75"
#define FICTL_R152 FICTL_R144, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define FICTL_D160 FICTL_D152 ", %76, %77, %78, %79"
#define FICTL_R160 FICTL_R152, "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define FICTL_D168 FICTL_D160 ", %80, %81, %82, %83"
#define FICTL_R168 FICTL_R160, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define FICTL_D176 FICTL_D168 ", %84, %85, %86, %87"
#define FICTL_R176 FICTL_R168, "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define FICTL_D184 FICTL_D176 ", %88, %89, %90, %91"
#define FICTL_R184 FICTL_R176, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define FICTL_D192 FICTL_D184 ", %92, %93, %94, %95"
#define FICTL_R192 FICTL_R184, "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define FICTL_D200 FICTL_D192 ", %96, %97, %98, %99"
#define FICTL_R200 FICTL_R192, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define FICTL_D208 FICTL_D200 ", %100, %101, %102, %103"
#define FICTL_R208 FICTL_R200, "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define FICTL_D216 FICTL_D208 ", %104, %105, %106, %107"
#define FICTL_R216 FICTL_R208, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define FICTL_D224 FICTL_D216 ", %108, %109, %110, %111"
#define FICTL_R224 FICTL_R216, "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define FICTL_D232 FICTL_D224 ", %112, %113, %114, %115"
#define FICTL_R232 FICTL_R224, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define FICTL_D240 FICTL_D232 ", %116, %117, %118, %119"
#define FICTL_R240 FICTL_R232, "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define FICTL_D248 FICTL_D240 ", %120, %121, %122, %123"
#define FICTL_R248 FICTL_R240, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define FICTL_D256 FICTL_D248 ", %124, %125, %126, %127"
#define FICTL_R256 FICTL_R248, "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// X(..., N, text of the accumulators, their operands, and the numbers of the next seven operands)
#define FICTL_WGMMA_EACH_N(X, ...)                                                               \
  X(__VA_ARGS__, 8, FICTL_D8, (FICTL_R8), "%4", "%5", "%6", "%7", "%8", "%9", "%10")             \
  X(__VA_ARGS__, 16, FICTL_D16, (FICTL_R16), "%8", "%9", "%10", "%11", "%12", "%13", "%14")      \
  X(__VA_ARGS__, 24, FICTL_D24, (FICTL_R24), "%12", "%13", "%14", "%15", "%16", "%17", "%18")    \
  X(__VA_ARGS__, 32, FICTL_D32, (FICTL_R32), "%16", "%17", "%18", "%19", "%20", "%21", "%22")    \
  X(__VA_ARGS__, 40, FICTL_D40, (FICTL_R40), "%20", "%21", "%22", "%23", "%24", "%25", "%26")    \
  X(__VA_ARGS__, 48, FICTL_D48, (FICTL_R48), "%24", "%25", "%26", "%27", "%28", "%29", "%30")    \
  X(__VA_ARGS__, 56, FICTL_D56, (FICTL_R56), "%28", "%29", "%30", "%31", "%32", "%33", "%34")    \
  X(__VA_ARGS__, 64, FICTL_D64, (FICTL_R64), "%32", "%33", "%34", "%35", "%36", "%37", "%38")    \
  X(__VA_ARGS__, 72, FICTL_D72, (FICTL_R72), "%36", "%37", "%38", "%39", "%40", "%41", "%42")    \
  X(__VA_ARGS__, 80, FICTL_D80, (FICTL_R80), "%40", "%41", "%42", "%43", "%44", "%45", "%46")    \
  X(__VA_ARGS__, 88, FICTL_D88, (FICTL_R88), "%44", "%45", "%46", "%47", "%48", "%49", "%50")    \
  X(__VA_ARGS__, 96, FICTL_D96, (FICTL_R96), "%48", "%49", "%50", "%51", "%52", "%53", "%54")    \
  X(__VA_ARGS__, 104, FICTL_D104, (FICTL_R104), "%52", "%53", "%54", "%55", "%56", "%57", "%58") \
  X(__VA_ARGS__, 112, FICTL_D112, (FICTL_R112), "%56", "%57", "%58", "%59", "%60", "%61", "%62") \
  X(__VA_ARGS__, 120, FICTL_D120, (FICTL_R120), "%60", "%61", "%62", "%63", "%64", "%65", "%66") \
  X(__VA_ARGS__, 128, FICTL_D128, (FICTL_R128), "%64", "%65", "%66", "%67", "%68", "%69", "%70") \
  X(__VA_ARGS__, 136, FICTL_D136, (FICTL_R136), "%68", "%69", "%70", "%71", "%72", "%73", "%74") \
  X(__VA_ARGS__, 144, FICTL_D144, (FICTL_R144), "%72", "%73", "%74", "%75", "%76", "%77", "%78") \
  X(__VA_ARGS__, 152, FICTL_D152, (FICTL_R152), "%76", "%77", "%78", "%79", "%80", "%81", "%82") \
  X(__VA_ARGS__, 160, FICTL_D160, (FICTL_R160), "%80", "%81", "%82", "%83", "%84", "%85", "%86") \
  X(__VA_ARGS__, 168, FICTL_D168, (FICTL_R168), "%84", "%85", "%86", "%87", "%88", "%89", "%90") \
  X(__VA_ARGS__, 176, FICTL_D176, (FICTL_R176), "%88", "%89", "%90", "%91", "%92", "%93", "%94") \
  X(__VA_ARGS__, 184, FICTL_D184, (FICTL_R184), "%92", "%93", "%94", "%95", "%96", "%97", "%98") \
  X(__VA_ARGS__, 192, FICTL_D192, (FICTL_R192), "%96", "%97", "%98", "%99", "%100", "%101",      \
    "%102")                                                                                      \
  X(__VA_ARGS__, 200, FICTL_D200, (FICTL_R200), "%100", "%101", "%102", "%103", "%104", "%105",  \
    "%106")                                                                                      \
  X(__VA_ARGS__, 208, FICTL_D208, (FICTL_R208), "%104", "%105", "%106", "%107", "%108", "%109",  \
    "%110")                                                                                      \
  X(__VA_ARGS__, 216, FICTL_D216, (FICTL_R216), "%108", "%109", "%110", "%111", "%112", "%113",  \
    "%114")                                                                                      \
  X(__VA_ARGS__, 224, FICTL_D224, (FICTL_R224), "%112", "%113", "%114", "%115", "%116", "%117",  \
    "%118")                                                                                      \
  X(__VA_ARGS__, 232, FICTL_D232, (FICTL_R232), "%116", "%117", "%118", "%119", "%120", "%121",  \
    "%122")                                                                                      \
  X(__VA_ARGS__, 240, FICTL_D240, (FICTL_R240), "%120", "%121", "%122", "%123", "%124", "%125",  \
    "%126")                                                                                      \
  X(__VA_ARGS__, 248, FICTL_D248, (FICTL_R248), "%124", "%125", "%126", "%127", "%128", "%129",  \
    "%130")                                                                                      \
  X(__VA_ARGS__, 256, FICTL_D256, (FICTL_R256), "%128", "%129", "%130", "%131", "%132", "%133",  \
    "%134")
