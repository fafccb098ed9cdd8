// A table that scrolls by itself in a narrow window.
import type { ComponentChildren } from 'preact';

export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
}

interface TableProps {
  readonly name: string;
  readonly heads: readonly string[];
  readonly rows: readonly TableRow[];
  /** What stands there without rows. */
  readonly none: string;
}

export function Table({ name, heads, rows, none }: TableProps) {
  if (rows.length === 0) return <p class="nothing soft">{none}</p>;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={name}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, column) => (
                <td key={heads[column]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
