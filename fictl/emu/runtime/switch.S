// void fictl_emu_switch(void** save, void* load)
// Keeps what a function must keep (the ABI's callee-saved registers), stores the stack pointer to
// *save and goes on where `load` was saved. Why not swapcontext: it asks the kernel for the signal
// mask, which makes a switch eight times as long.
#if defined(__x86_64__)
  .text
  .globl fictl_emu_switch
  .hidden fictl_emu_switch
  .type fictl_emu_switch,@function
fictl_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size fictl_emu_switch,.-fictl_emu_switch
#elif defined(__aarch64__)
  .text
  .globl fictl_emu_switch
  .hidden fictl_emu_switch
  .type fictl_emu_switch,%function
fictl_emu_switch:
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
  .size fictl_emu_switch,.-fictl_emu_switch
#else
#error "The emulated device runs on x86-64 and aarch64"
#endif
  .section .note.GNU-stack,"",%progbits
