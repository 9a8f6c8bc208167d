import './list.css'
import type { ComponentChildren } from 'preact'
import { VisibleText } from './visible-text.tsx'

/** A text is shown with its hidden characters, and a dash where there is no value. */
type Cell<T, Row> = (item: T, row: Row) => ComponentChildren

/**
 * What the cells of a column show. `text`: has several lines if it is long. `header`: names the row; by default, the
 * first column does. `actions`: its label is only for screen readers.
 */
type Kind = 'text' | 'numeric' | 'header' | 'actions'

type Column<T, Row> = Cell<T, Row> | Partial<Record<Kind, Cell<T, Row>>>

/** By their labels; what is false is left out. */
export type Columns<T, Row = unknown> = Record<string, Column<T, Row> | false>

type TableProps<T, Row> = {
  caption: string
  columns: Columns<T, Row>
  items: T[]
  keyOf?: (item: T) => string
  /** What the cells of a row share, such as a request. */
  useRow?: ((item: T) => Row) | undefined
}

/** A table that scrolls sideways where it does not fit. */
export function ItemTable<T, Row>({ caption, columns, items, keyOf = idOf, useRow }: TableProps<T, Row>) {
  const shown = Object.entries(columns).flatMap(([label, column]): ShownColumn<T, Row>[] => {
    if (column === false) return []
    if (typeof column === 'function') return [{ label, kind: null, cell: column }]
    return (Object.keys(column) as Kind[]).map((kind) => ({
      label,
      kind,
      cell: column[kind] ?? (() => null),
    }))
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus.
    <section class="table-scroll panel" aria-label={caption} tabIndex={0}>
      <table class="items">
        <caption class="visually-hidden">
          <VisibleText text={caption} />
        </caption>
        <thead>
          <tr>
            {shown.map(({ label, kind }) => (
              <th key={label} scope="col" class={kind === 'numeric' ? 'numeric' : undefined}>
                <VisibleText text={label} class={kind === 'actions' ? 'visually-hidden' : undefined} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <ItemRow key={keyOf(item)} {...{ item, columns: shown, useRow }} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

const idOf = (item: unknown): string => (item as { id: string }).id

type ShownColumn<T, Row> = { label: string; kind: Kind | null; cell: Cell<T, Row> }

type RowProps<T, Row> = { item: T; columns: ShownColumn<T, Row>[]; useRow: ((item: T) => Row) | undefined }

function ItemRow<T, Row>({ item, columns, useRow }: RowProps<T, Row>) {
  const row = useRow?.(item) as Row
  const header = columns.find(({ kind }) => kind === 'header') ?? columns[0]
  return (
    <tr>
      {columns.map((column) => {
        const { label, kind, cell } = column
        const content = toContent(cell(item, row))
        return column === header ? (
          <th key={label} scope="row">
            {content}
          </th>
        ) : (
          <td key={label} class={kind ?? undefined}>
            {content}
          </td>
        )
      })}
    </tr>
  )
}

function toContent(value: ComponentChildren): ComponentChildren {
  if (value === null || value === undefined || value === false) return <span class="muted">–</span>
  return typeof value === 'string' ? <VisibleText text={value} /> : value
}
