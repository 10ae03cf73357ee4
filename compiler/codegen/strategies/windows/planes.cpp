// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/codegen/strategies/windows/planes.h"

#include "compiler/codegen/kernel/bodies/gathered.h"
#include "compiler/codegen/kernel/tensor_core.h"
#include "compiler/codegen/strategies/windows/window_planes.h"
#include "compiler/codegen/strategies/windows/windows.h"
#include "compiler/dialect/tile_pins.h"
#include "compiler/dispatch/analysis/kernel_config.h"

using namespace mlir;

namespace tenon::compiler::codegen {
namespace {

constexpr int64_t kVector = 16, kWord = 4; // bytes
// Of an unknown number of images, what a tile is chosen for, and up to how many images are few.
constexpr int64_t kManyImages = 16;

class PlanesWriter {
public:
  explicit PlanesWriter(Writer &w)
      : w_(w), k_(w.k), bodies_(w.bodies), form_(*PlaneForm::of(w.kernel, w.shape)),
        tile_({w.choice("lines"), w.choice("run"), w.k.threads}), planes_(form_.planes(tile_)),
        last_(w.shape.parallel - 1), core_(w.k, w.k.b.getF16Type(), {}, w.target.number),
        image_(k_.shared(k_.b.getI8Type(), form_.sharedBytes(tile_), 128)),
        results_(k_.at(image_, k_.b.getI8Type(), k_.number(planes_ * form_.imagePlane()))) {}

  void run();

private:
  using Values = SmallVector<Value>;

  Value byteAt(Value base, int64_t offset) { return k_.at(base, k_.b.getI8Type(), k_.number(offset)); }
  void move(Value bytes, Value isAligned, int64_t most, int64_t element, llvm::function_ref<void(Value)> vector,
            llvm::function_ref<void(Value)> one);
  void bringOthers(Value first, Value count);
  void stage(Value inBlock);
  void slide(const Point &first, Value line, Value image, Value results);
  Values readVector(Value from, int64_t bytes, Value isThere);
  Values readRow(Value image, const Point &first, int64_t row);
  void storeLine(const Point &result, Value results, int64_t line, ArrayRef<Value> totals);

  Writer &w_;
  KernelBuilder &k_;
  Bodies &bodies_;
  const PlaneForm form_;
  const PlaneTile tile_;
  const int64_t planes_; // of a block
  const unsigned last_;  // axis
  TensorCore core_;
  Value image_, results_; // in shared memory
  Values others_;         // there, too
  int64_t place_ = 0;     // of the window
  int64_t inRow_ = 0;     // of it, along the last axis
  Values elements_;       // of a row of the image
};

/// What the block has of a tensor, so many bytes: vectors where it begins at one, and elements behind.
void PlanesWriter::move(Value bytes, Value isAligned, int64_t most, int64_t element,
                        llvm::function_ref<void(Value)> vector, llvm::function_ref<void(Value)> one) {
  const int64_t vectors = most / kVector, threads = k_.threads;
  Value whole = k_.number(most), count = k_.select(isAligned, k_.div(bytes, k_.number(kVector)), k_.number(0));
  auto rest = [&] {
    k_.loop(k_.thread(), count, k_.number(threads), {}, [&](Value number, ValueRange) {
      vector(k_.mul(number, k_.number(kVector)));
      return Values();
    });
    Value first = k_.mul(count, k_.number(kVector / element));
    k_.loop(k_.add(first, k_.thread()), k_.div(bytes, k_.number(element)), k_.number(threads), {},
            [&](Value number, ValueRange) {
              one(k_.mul(number, k_.number(element)));
              return Values();
            });
  };
  auto all = [&] {
    for (int64_t first = 0; first < vectors; first += threads) {
      Value number = k_.add(k_.thread(), k_.number(first));
      auto move = [&] { vector(k_.mul(number, k_.number(kVector))); };
      if (first + threads > vectors)
        k_.when(k_.less(number, k_.number(vectors)), move);
      else
        move();
    }
  };
  k_.branch(k_.both(isAligned, k_.equal(bytes, whole)), all, rest);
}

void PlanesWriter::run() {
  w_.space.vectorAxis = last_;
  Type byte = k_.b.getI8Type();
  Value all = w_.space.size(0, last_ - 1), first = k_.mul(k_.block(), k_.number(planes_));
  Value count = k_.min(k_.sub(all, first), k_.number(planes_));
  const KernelTensor &image = form_.rows.image, &result = form_.stored->outputs[form_.output].tensor;
  Value from = k_.at(bodies_.base(image), byte, k_.mul(first, k_.number(form_.imagePlane()))),
        to = k_.at(bodies_.base(result), byte, k_.mul(first, k_.number(form_.resultPlane())));
  auto copy = [&](Type type, Value source, Value target, int64_t bytes) {
    k_.store(k_.load(type, source, bytes), target, bytes);
  };
  auto word = [&](int64_t bytes) { return k_.b.getIntegerType(unsigned(bytes * 8)); };
  auto words = VectorType::get(kVector / 4, k_.b.getI32Type());
  move(
      k_.mul(count, k_.number(form_.imagePlane())), bodies_.isAligned(image, kVector), planes_ * form_.imagePlane(),
      form_.imageBytes, [&](Value at) { core_.copyAsync(k_.at(image_, byte, at), k_.at(from, byte, at), {}); },
      [&](Value at) {
        copy(word(form_.imageBytes), k_.at(from, byte, at), k_.at(image_, byte, at), form_.imageBytes);
      });
  core_.closeGroup();
  bringOthers(first, count);

  const int64_t across = form_.across(tile_), down = form_.down(tile_);
  Value strip = k_.div(k_.thread(), k_.number(across)), inBlock = k_.div(strip, k_.number(down));
  Point point;
  point.index.resize(w_.shape.axes.size(), k_.number(0));
  w_.space.place(point, 0, last_ - 1, k_.add(first, inBlock));
  point.id = w_.space.newId();
  core_.waitForGroups(0);
  k_.barrier();
  k_.when(k_.less(inBlock, count), [&] {
    Bodies::Scope scope(bodies_);
    bodies_.setWidth(unsigned(tile_.columns));
    stage(inBlock);
    Value line = k_.mul(k_.rem(strip, k_.number(down)), k_.number(tile_.lines)), begin = line;
    if (form_.lines % tile_.lines != 0)
      begin = k_.min(line, k_.number(form_.lines - tile_.lines));
    Value column = k_.mul(k_.rem(k_.thread(), k_.number(across)), k_.number(tile_.columns));
    point.index[last_ - 1] = begin;
    point.index[last_] = column;
    // Where the line and the column of the first result are, of planes with so many columns.
    auto inPlanes = [&](int64_t plane, int64_t lines, int64_t columns, int64_t step) {
      return k_.add(k_.add(k_.mul(inBlock, k_.number(plane)), k_.mul(begin, k_.number(lines))),
                    k_.mul(column, k_.number(columns * step)));
    };
    const int64_t ofImage = form_.imageBytes, ofResult = form_.resultBytes;
    slide(
        point, line,
        k_.at(image_, byte,
              inPlanes(form_.imagePlane(), form_.slide.step * form_.imageColumns * ofImage, ofImage, form_.rows.step)),
        k_.at(results_, byte, inPlanes(form_.resultPlane(), form_.columns * ofResult, ofResult, 1)));
  });
  bodies_.unstage();
  k_.barrier();
  move(
      k_.mul(count, k_.number(form_.resultPlane())), bodies_.isAligned(result, kVector), planes_ * form_.resultPlane(),
      form_.resultBytes, [&](Value at) { copy(words, k_.at(results_, byte, at), k_.at(to, byte, at), kVector); },
      [&](Value at) {
        copy(word(form_.resultBytes), k_.at(results_, byte, at), k_.at(to, byte, at), form_.resultBytes);
      });
}

/// Brings filters and a bias, of each plane that there is, while the image is on its way.
void PlanesWriter::bringOthers(Value first, Value count) {
  Value to = k_.at(results_, k_.b.getI8Type(), k_.number(planes_ * form_.resultPlane()));
  for (const PlaneForm::Other &other : form_.others) {
    const int64_t elements = planes_ * other.places;
    SmallVector<std::pair<Value, Value>> read; // number, element
    for (int64_t begin = 0; begin < elements; begin += k_.threads) {
      Value number = k_.add(k_.thread(), k_.number(begin)), plane = k_.div(number, k_.number(other.places)),
            place = k_.rem(number, k_.number(other.places));
      Point point;
      point.index.resize(w_.shape.axes.size(), k_.number(0));
      w_.space.place(point, 0, last_ - 1, k_.add(first, plane));
      point.index[form_.slide.axis] = k_.div(place, k_.number(form_.rows.length));
      point.index[form_.rows.axis] = k_.rem(place, k_.number(form_.rows.length));
      point.id = w_.space.newId();
      read.push_back({number, k_.loadWhere(k_.less(plane, count), k_.b.getIntegerType(unsigned(other.bytes * 8)),
                                           bodies_.address(*other.op, *other.tensor, point))});
    }
    for (auto [number, element] : read) {
      auto store = [&, at = number, value = element] {
        k_.store(value, k_.at(to, value.getType(), at), uint32_t(other.bytes));
      };
      if (elements % k_.threads != 0)
        k_.when(k_.less(number, k_.number(elements)), store);
      else
        store();
    }
    others_.push_back(to);
    to = k_.at(to, k_.b.getI8Type(), k_.number(form_.othersBytes(tile_, other)));
  }
}

/// What the windows of a plane's results meet, and what else is read for each of them.
void PlanesWriter::stage(Value inBlock) {
  const auto columns = unsigned(tile_.columns);
  for (auto [other, base] : llvm::zip_equal(form_.others, others_)) {
    const Type type = memoryType(other.tensor->element);
    Value from = k_.at(base, k_.b.getI8Type(), k_.mul(inBlock, k_.number(other.places * other.bytes)));
    Values kept;
    for (int64_t place = 0; place < other.places; ++place)
      kept.push_back(k_.load(type, byteAt(from, place * other.bytes), uint32_t(other.bytes)));
    const bool hasWindow = other.places != 1;
    bodies_.stage(*other.op, *other.tensor, [this, hasWindow, columns, kept](const Point &) {
      return Values(columns, kept[hasWindow ? place_ : 0]);
    });
  }
  if (!form_.rows.border)
    bodies_.stage(*form_.rows.op, form_.rows.image,
                  [this, columns](const Point &) { return form_.rows.at(elements_, inRow_, columns); });
}

/// Neighbours of a row, or zeros. Words, which are selected as a whole, become narrow elements last.
PlanesWriter::Values PlanesWriter::readVector(Value from, int64_t bytes, Value isThere) {
  const Type type = memoryType(form_.rows.image.element);
  auto orZero = [&](Value read) {
    Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(read.getType()));
    return isThere ? k_.select(isThere, read, zero) : read;
  };
  if (bytes < kWord)
    return {orZero(k_.load(type, from, uint32_t(bytes)))};
  const int64_t words = bytes / kWord, inWord = kWord / form_.imageBytes;
  const auto bits = unsigned(form_.imageBytes * 8);
  Type word = k_.b.getI32Type();
  Value all = k_.load(words == 1 ? word : Type(VectorType::get(words, word)), from, uint32_t(bytes));
  Values elements;
  for (int64_t i = 0; i < words; ++i) {
    Value each = orZero(words == 1 ? all : LLVM::ExtractElementOp::create(k_.b, k_.loc, all, k_.number(i)).getResult());
    for (int64_t part = 0; part < inWord; ++part) {
      Value element = each;
      if (part != 0)
        element = arith::ShRUIOp::create(
            k_.b, k_.loc, each, arith::ConstantOp::create(k_.b, k_.loc, k_.b.getI32IntegerAttr(int32_t(part * bits))));
      if (inWord != 1)
        element = arith::TruncIOp::create(k_.b, k_.loc, k_.b.getIntegerType(bits), element);
      elements.push_back(LLVM::BitcastOp::create(k_.b, k_.loc, type, element));
    }
  }
  return elements;
}

/// What the windows meet of a row of the image, so many behind that of the first result.
PlanesWriter::Values PlanesWriter::readRow(Value image, const Point &first, int64_t row) {
  const Slide &down = form_.slide, &along = form_.rows;
  const Type type = memoryType(form_.rows.image.element);
  const int64_t bytes = form_.imageBytes, columns = form_.imageColumns;
  const int64_t behind = row + down.offset, farthest = (form_.lines - tile_.lines) * down.step + behind;
  Value zero = arith::ConstantOp::create(k_.b, k_.loc, k_.b.getZeroAttr(type)), isRow;
  if (tile_.lines == form_.lines && (behind < 0 || behind >= form_.imageLines))
    return Values(along.met(tile_.columns), zero);
  if (behind < 0 || farthest >= form_.imageLines) {
    Value at = k_.add(k_.mul(first.index[last_ - 1], k_.number(down.step)), k_.number(behind));
    isRow = k_.less(at, k_.number(form_.imageLines)); // unsigned
  }
  Value line = byteAt(image, behind * columns * bytes);
  if (isRow)
    line = k_.select(isRow, line, image_);
  const int64_t own = tile_.columns * along.step, others = form_.columns * along.step - own; // columns of other threads
  const int64_t end = along.offset + along.met(tile_.columns), vector = form_.imageVector(tile_) / bytes;
  // Beside a thread's own columns little is read.
  const int64_t ofBorder = std::min(vector, std::max<int64_t>(kWord / bytes, 1));
  Values elements;
  for (int64_t column = along.offset; column < end;) {
    const int64_t each = others != 0 && (column < 0 || column >= own) ? ofBorder : vector;
    const int64_t start = column - ((column % each) + each) % each;
    if (others == 0 && (start < 0 || start >= columns)) {
      elements.push_back(zero);
      ++column;
      continue;
    }
    Value isThere = isRow, from = byteAt(line, start * bytes);
    if (start < 0 || start + others >= columns) {
      Value at = k_.add(k_.mul(first.index[last_], k_.number(along.step)), k_.number(start));
      Value isColumn = k_.less(at, k_.number(columns)); // unsigned
      isThere = isThere ? k_.both(isThere, isColumn) : isColumn;
      from = k_.select(isThere, from, image_);
    }
    const Values read = readVector(from, each * bytes, isThere);
    for (; column < std::min(start + each, end); ++column)
      elements.push_back(read[column - start]);
  }
  return elements;
}

/// Row after row of the image, each combined with the sums of all lines whose windows it lies in.
void PlanesWriter::slide(const Point &first, Value line, Value image, Value results) {
  const Slide &down = form_.slide, &along = form_.rows;
  const auto columns = unsigned(tile_.columns);
  SmallVector<Point> points;
  for (int64_t number = 0; number < tile_.lines; ++number) {
    Point &point = points.emplace_back(first);
    point.index[last_ - 1] = k_.add(first.index[last_ - 1], k_.number(number));
    point.id = w_.space.newId();
  }
  SmallVector<Values> totals(tile_.lines, Values(columns, bodies_.begin(form_.sum)));
  for (int64_t row = 0; row < down.met(tile_.lines); ++row) {
    Bodies::Scope scope(bodies_);
    elements_.clear();
    for (int64_t number = 0; number < tile_.lines; ++number) {
      const int64_t behind = row - number * down.step, inDown = behind / down.apart;
      if (behind < 0 || behind % down.apart != 0 || inDown >= down.length)
        continue;
      if (elements_.empty())
        elements_ = readRow(image, first, row);
      const int64_t inWindow = down.isBackwards ? down.length - 1 - inDown : inDown;
      for (int64_t step = 0; step < along.length; ++step) {
        inRow_ = along.isBackwards ? along.length - 1 - step : step;
        place_ = inWindow * along.length + inRow_;
        Point point = points[number];
        point.index[down.axis] = k_.number(inWindow);
        point.index[along.axis] = k_.number(inRow_);
        point.id = w_.space.newId();
        if (form_.rows.border)
          bodies_.assumeLanes(form_.rows.border, form_.rows.at(elements_, inRow_, columns));
        for (unsigned lane = 0; lane < columns; ++lane)
          totals[number][lane] =
              combine(k_, form_.sum.sum, totals[number][lane], bodies_.contribution(form_.sum, point, lane));
        bodies_.assumeNothing();
      }
      if (inDown != down.length - 1)
        continue;
      auto store = [&] { storeLine(points[number], results, number, totals[number]); };
      if (form_.lines % tile_.lines == 0)
        store();
      else // the last strip begins in the one before, which stores what both have
        k_.when(k_.less(line, k_.add(points[number].index[last_ - 1], k_.number(1))), store);
    }
  }
}

void PlanesWriter::storeLine(const Point &result, Value results, int64_t line, ArrayRef<Value> totals) {
  Bodies::Scope scope(bodies_);
  const Type element = form_.stored->outputs[form_.output].tensor.element, type = memoryType(element);
  const int64_t bytes = form_.resultBytes, vector = form_.resultVector(tile_) / bytes;
  Values finished;
  for (auto [lane, total] : llvm::enumerate(totals))
    finished.push_back(bodies_.finishBegun(form_.sum, result, unsigned(lane), total));
  bodies_.setRow(form_.sum, finished);
  const Values values = bodies_.rowValues(*form_.stored, form_.output, result);
  for (int64_t column = 0; column < tile_.columns; column += vector) {
    Value to = byteAt(results, (line * form_.columns + column) * bytes);
    if (vector == 1) {
      k_.store(toMemory(k_, values[column], element), to, uint32_t(bytes));
      continue;
    }
    Value all = LLVM::PoisonOp::create(k_.b, k_.loc, VectorType::get(vector, type));
    for (int64_t i = 0; i < vector; ++i)
      all = LLVM::InsertElementOp::create(k_.b, k_.loc, all, toMemory(k_, values[column + i], element), k_.number(i));
    k_.store(all, to, uint32_t(vector * bytes));
  }
}

Plan planOf(StringRef name, const PlaneForm &form, const GroupShape &shape, const PlaneTile &tile) {
  return Plan{name,
              tile.threads,
              {{"lines", tile.lines}, {"run", tile.columns}},
              {{extentsOf(shape.parallelAxes().drop_back(2)), form.planes(tile)}}};
}

/// Planes of the results, where it is not known how many images there are, of some.
int64_t planesOf(const GroupShape &shape) {
  int64_t planes = 1;
  for (const SpaceAxis &axis : shape.parallelAxes().drop_back(2))
    planes *= axis.size.value_or(kManyImages);
  return planes;
}

} // namespace

std::optional<Plan> Planes::plan(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<PlaneForm> form = PlaneForm::of(kernel, shape);
  const std::optional<PlaneTile> tile = form ? tileOfPlanes(*form, planesOf(shape)) : std::nullopt;
  return tile ? std::optional(planOf(name(), *form, shape, *tile)) : std::nullopt;
}

std::vector<Plan> Planes::plans(const KernelFunction &kernel, const GroupShape &shape) const {
  const std::optional<PlaneForm> form = PlaneForm::of(kernel, shape);
  if (!form)
    return {};
  const DictionaryAttr pin = tilePinOf(form->sum.op->op);
  if (pin ? TileChoice::of(pin).by != name() : !isWorthPlanes(*form))
    return {};
  return Strategy::plans(kernel, shape);
}

bool Planes::takes(StringRef choice, int64_t value) const {
  return choice == "threads" ? value > 0 && value <= 256 && value % 32 == 0 : value >= 1;
}

StringRef Planes::whyNot(const KernelFunction &kernel) const {
  const auto choice = [&](StringRef name) { return kernel.strategy.getAs<IntegerAttr>(name).getInt(); };
  const PlaneTile tile{choice("lines"), choice("run"), kernel.threads};
  return PlaneForm::of(kernel, GroupShape::of(kernel))->fits(tile) ? "" : "has no such tile of 'lines' and 'run'";
}

void Planes::write(Writer &writer) const {
  PlanesWriter(writer).run();
}

} // namespace tenon::compiler::codegen
