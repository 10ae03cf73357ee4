# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension, the tools and the emulator, side by side."""
