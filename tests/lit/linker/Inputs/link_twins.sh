#!/bin/sh
# link_twins.sh KERNELS.cu FOLDER TARGET=PTX...: the declarations of declare_kernels.py through tenon-link. The good one
# links under --strict without a word; of each twin every broken slot is found, and by the right rule.
set -eu
here=$(dirname "$0") source=$1 folder=$2
shift 2
mkdir -p "$folder"
python3 "$here/declare_kernels.py" "$source" "$@" "$folder" > "$folder/expected"
tenon-link --strict "$folder/good.json" -o "$folder/good.tnx"
while read -r name count rule; do
  [ "$count" -gt 0 ] || continue
  if tenon-link "$folder/$name.json" -o "$folder/$name.tnx" 2> "$folder/$name.err"; then
    echo "$name: linked"
  fi
  found=$(grep -c "error: \\[$rule\\]" "$folder/$name.err" || true)
  others=$(grep "error: \\[" "$folder/$name.err" | grep -vc "\\[$rule\\]" || true)
  echo "$name: $rule $found of $count, others $others"
done < "$folder/expected"
