import './list.css'
import type { ComponentChildren, ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { List } from '../api/use-list.ts'
import { Table } from './data.tsx'
import { formatCount, formatCountOf } from './format.ts'
import { ErrorBox, Spinner } from './page.tsx'
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
  /** What is listed. For screen readers. */
  caption: string
  columns: Columns<T, Row>
  items: T[]
  keyOf?: (item: T) => string
  /** What the cells of a row share, such as a request. */
  useRow?: ((item: T) => Row) | undefined
}

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
  const head = shown.map(({ label, kind }) => ({
    ...{ label, isNumeric: kind === 'numeric', isHidden: kind === 'actions' },
  }))
  return (
    <Table caption={caption} columns={head} class="items">
      {items.map((item) => (
        <ItemRow key={keyOf(item)} {...{ item, columns: shown, useRow }} />
      ))}
    </Table>
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

export type Look<T, Row = unknown> = Pick<TableProps<T, Row>, 'caption'> & {
  /** What an item is called, and several of them if not with an s. */
  noun: string
  plural?: string
  columns?: Columns<T, Row> | undefined
  /** What the cells of a row share, such as a request. */
  useRow?: (item: T, list: List<T>) => Row
  /** Instead of columns: items are in a list. */
  Item?: ComponentType<{ item: T; list: List<T> }>
  /** Of the list of such items. */
  class?: string
  /** Items that are shown at first. */
  shown?: number
  /** Nothing says how many there are. */
  isUncounted?: boolean
}

type ListProps<T, Row> = Look<T, Row> & {
  list: List<T>
  /** Those of the list that are shown. Absent: all. */
  found?: T[] | undefined
  /** Why there is nothing. */
  empty: ComponentChildren
}

/** A list: how much of it has arrived, its items or why there are none, and what follows them. */
export function ListView<T, Row>(props: ListProps<T, Row>) {
  const { list, found = list.items, noun, plural = `${noun}s`, caption, columns, useRow, Item } = props
  const [shown, setShown] = useState(props.shown ?? Number.POSITIVE_INFINITY)
  const { isLoading, error, keyOf } = list
  const items = found.slice(0, shown)
  const step = Math.min(props.shown ?? 0, found.length - shown)
  return (
    <>
      <ListState {...{ list, noun, plural }} found={props.isUncounted ? null : found.length} />
      {found.length === 0 && isLoading && <Spinner label={`Loading ${plural}…`} />}
      {found.length > 0 && columns && (
        <ItemTable {...{ caption, columns, items, keyOf }} useRow={(item) => useRow?.(item, list) as Row} />
      )}
      {found.length > 0 && Item && (
        <ul class={`plain-list ${props.class}`} aria-label={caption}>
          {items.map((item) => (
            <Item key={keyOf(item)} item={item} list={list} />
          ))}
        </ul>
      )}
      {step > 0 && (
        <p>
          <button type="button" onClick={() => setShown(shown + step)}>
            Show {formatCount(step)} more
          </button>
        </p>
      )}
      {found.length === 0 && !isLoading && !error && <p class="empty">{props.empty}</p>}
      <ListEnd list={list} />
    </>
  )
}

type StateProps<T> = {
  list: List<T>
  /** Null: it is not said how many there are. */
  found: number | null
  noun: string
  plural?: string
}

/** `3 batches`, `50 batches so far`, `3 of 20 agents`, and whether they are up to date. */
export function ListState<T>({ list, found, noun, plural }: StateProps<T>) {
  const { items, note, next, isLoading, isLive } = list
  const part = found !== null && found < items.length ? `${formatCount(found)} of ` : ''
  const state = [
    found !== null &&
      items.length > 0 &&
      `${part}${formatCountOf(items.length, noun, plural)}${next || isLoading ? ' so far' : ''}`,
    note,
    !isLive && 'Updates are interrupted: the service does not respond. Trying again…',
  ].filter(Boolean)
  if (found === null && state.length === 0) return null
  return (
    <p class="list-state muted" role="status">
      {state.join(' · ')}
    </p>
  )
}

/** What follows a list: the button for its next page, or what failed. */
export function ListEnd<T>({ list: { next, isLoading, error, loadMore, retry } }: { list: List<T> }) {
  if (error) return <ErrorBox error={error} onRetry={retry} />
  if (!next) return null
  return (
    <p>
      <button type="button" disabled={isLoading} onClick={loadMore}>
        {isLoading ? 'Loading…' : 'Load more'}
      </button>
    </p>
  )
}
