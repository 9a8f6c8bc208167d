import './list.css'
import type { ComponentChildren, ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { List } from '../api/use-list.ts'
import { Button } from './button.tsx'
import { formatCount, formatCountOf } from './format.ts'
import { type Columns, ItemTable } from './item-table.tsx'
import { ErrorBox, Spinner } from './page.tsx'

export type Look<T, Row = unknown> = {
  caption: string
  /** What an item is called, and several of them if not with an s. */
  noun: string
  plural?: string
  columns?: Columns<T, Row> | undefined
  useRow?: (item: T, list: List<T>) => Row
  /** Instead of columns: items are in a list. */
  Item?: ComponentType<{ item: T; list: List<T> }>
  class?: string
  shown?: number
  /** Nothing says how many there are. */
  isUncounted?: boolean
}

type ListProps<T, Row> = Look<T, Row> & {
  list: List<T>
  /** The items of the list that are shown. Absent: all. */
  found?: T[] | undefined
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
          <Button label={`Show ${formatCount(step)} more`} onClick={() => setShown(shown + step)} />
        </p>
      )}
      {found.length === 0 && !isLoading && !error && <p class="empty">{props.empty}</p>}
      <ListEnd list={list} />
    </>
  )
}

/** `found`: null if it is not said how many there are. */
type StateProps<T> = Pick<Look<T>, 'noun' | 'plural'> & { list: List<T>; found: number | null }

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
      <Button label={isLoading ? 'Loading…' : 'Load more'} disabled={isLoading} onClick={loadMore} />
    </p>
  )
}
