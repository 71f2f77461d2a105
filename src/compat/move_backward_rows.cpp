#include "compat/move_backward_rows.h"

#include <algorithm>

namespace jarvis::compat {
namespace {

bool IsMoved(std::string_view name) {
  return name == "flash_attn::_flash_attn_varlen_backward" ||
         name == "aten::convolution_backward" || name == "ConvBias_Backward" ||
         name == "ConvBiasReLU_Backward";
}

bool IsRemoved(std::string_view name) {
  return name == "aten::convolution" || name == "aten::miopen_convolution" ||
         name == "aten::cudnn_convolution" || name == "ConvBias_" || name == "ConvBiasReLU_";
}

std::string_view NameCell(const std::vector<Cell>& row) {
  return std::get<std::string>(row[0]);
}

// Appends rows of another table; columns are the union, the table's own first.
void AppendRows(Table* table, const std::vector<std::string>& columns,
                std::vector<std::vector<Cell>> rows) {
  if (rows.empty()) return;
  std::vector<std::size_t> place;
  for (const std::string& column : columns) {
    const auto found = std::find(table->columns.begin(), table->columns.end(), column);
    place.push_back(static_cast<std::size_t>(found - table->columns.begin()));
    if (found == table->columns.end()) table->columns.push_back(column);
  }
  for (std::vector<Cell>& row : table->rows)
    row.resize(table->columns.size());
  for (std::vector<Cell>& row : rows) {
    std::vector<Cell> cells(table->columns.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      cells[place[i]] = std::move(row[i]);
    table->rows.push_back(std::move(cells));
  }
}

}  // namespace

void MoveBackwardRows(std::vector<Table>* tables, bool inference) {
  for (std::size_t i = 0; i < tables->size(); ++i) {
    Table& forward = (*tables)[i];
    const std::string suffix = forward.name.ends_with("_kl_overlap") ? "_kl_overlap" : "";
    const std::string stem = forward.name.substr(0, forward.name.size() - suffix.size());
    if (!stem.ends_with("_fwd")) continue;
    std::vector<std::vector<Cell>> moved;
    std::vector<std::vector<Cell>> kept;
    for (std::vector<Cell>& row : forward.rows) {
      (IsMoved(NameCell(row)) ? moved : kept).push_back(std::move(row));
    }
    forward.rows = std::move(kept);
    const std::string name = stem.substr(0, stem.size() - 4) + "_bwd" + suffix;
    auto backward = std::find_if(tables->begin(), tables->end(),
                                 [&](const Table& table) { return table.name == name; });
    if (backward == tables->end() && !moved.empty() && !inference) {  // P4: lost in inference
      const std::vector<std::string> columns = forward.columns;
      backward = tables->insert(tables->begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                Table{name, columns, {}});
      backward->rows = std::move(moved);
      moved.clear();
    } else if (backward != tables->end()) {
      AppendRows(&*backward, forward.columns, std::move(moved));
    }
    if (backward != tables->end()) {
      std::erase_if(backward->rows,
                    [](const std::vector<Cell>& row) { return IsRemoved(NameCell(row)); });
    }
  }
  std::erase_if(*tables, [](const Table& table) { return table.rows.empty(); });
}

}  // namespace jarvis::compat
