import type { ComponentChildren, ComponentType, VNode } from 'preact'
import type { List } from './api/use-list.ts'
import { FilterBar, Views } from './components/filter-bar.tsx'
import { type Filter, hrefOf, isFiltered, parseFilters, type Values } from './components/filters.ts'
import type { Columns } from './components/item-table.tsx'
import { ListView, type Look } from './components/list.tsx'
import { NeedsScope, Page } from './components/page.tsx'
import { currentLocation, navigate } from './state/location.ts'
import { type Scope, useScope } from './state/session.ts'

type PartProps<L, Name extends string> = { values: Values<Name>; list: L; query: URLSearchParams }

/** `found`: what is shown of the list. `empty`: what the page says if there is nothing. */
export type BodyProps<T, Name extends string, L = List<T>> = PartProps<L, Name> & {
  found: T[]
  empty: ComponentChildren
}

type ListPage<T, Name extends string, Row, L> = Omit<Look<T, Row>, 'columns'> & {
  title: string
  /** Without it, the token sees nothing. */
  scope?: Scope
  path: string
  note?: string
  filters?: Record<Name, Filter<T>>
  /** For filters that exclude each other: all of them after a change, or as the address has them. */
  change?: (values: Values<Name>, change: Partial<Values<Name>>) => Values<Name>
  /** Loads what the filters leave. */
  useItems: (values: Values<Name>) => L & List<T>
  /** Of what is loaded, what is shown. */
  find?: (items: T[], values: Values<Name>) => T[]
  columns?: Columns<T, Row> | ((items: T[]) => Columns<T, Row>)
  empty: (values: Values<Name>) => ComponentChildren
  /** If the filters may be why there is nothing. */
  noMatch?: (values: Values<Name>) => ComponentChildren
  Actions?: ComponentType<PartProps<L, Name>>
  /** Instead of a table or a list of items. */
  Body?: ComponentType<BodyProps<T, Name, L>>
  /** What follows the list, such as the dialog of an item that is open. */
  End?: ComponentType<PartProps<L, Name>>
}

/** A page that lists something. Its filters are in the URL. */
export function listPage<T, L, Row = unknown, Name extends string = never>(page: ListPage<T, Name, Row, L>) {
  return ({ query }: { query: URLSearchParams }): VNode => {
    const { title, scope } = page
    const mayRead = useScope(scope ?? 'read') || scope === undefined
    if (mayRead) return <ListPage page={page} query={query} />
    return (
      <Page title={title}>
        <NeedsScope scope={scope}>{null}</NeedsScope>
      </Page>
    )
  }
}

type Props<T, Name extends string, Row, L> = { page: ListPage<T, Name, Row, L>; query: URLSearchParams }

function ListPage<T, Name extends string, Row, L>({ page, query }: Props<T, Name, Row, L>) {
  const { title, path, noun, filters = {} as Record<Name, Filter<T>>, columns, Actions, Body, End } = page
  const given = parseFilters(filters, query)
  const values = page.change?.(given, given) ?? given
  const list = page.useItems(values)
  const part = { values, list, query }
  function change(change: Partial<Values>) {
    // A browser completes the text of a field when its page has been left.
    if (currentLocation.get().path !== path) return
    const changed = page.change?.(values, change as Partial<Values<Name>>) ?? { ...values, ...change }
    // The back button leaves the list, however often its filters have changed.
    navigate(hrefOf(path, filters, changed), { replace: true })
  }
  const views = Object.entries<Filter<T>>(filters).filter(([, filter]) => filter.default !== undefined)
  const found = page.find?.(list.items, values) ?? list.items
  const noMatch = page.noMatch ?? (() => `No ${noun} matches these filters.`)
  const empty = (isFiltered(filters, values) ? noMatch : page.empty)(values)
  return (
    <Page
      title={title}
      actions={
        (views.length > 0 || Actions) && (
          <>
            <Views filters={filters} values={values} />
            {Actions && <Actions {...part} />}
          </>
        )
      }
    >
      <div class="stack">
        {page.note && <p class="muted">{page.note}</p>}
        {views.length < Object.keys(filters).length && (
          <FilterBar filters={filters} values={values} items={list.items} onChange={change} />
        )}
        {Body ? (
          <Body {...part} found={found} empty={empty} />
        ) : (
          <ListView
            {...{ ...page, list, found, empty }}
            columns={typeof columns === 'function' ? columns(list.items) : columns}
          />
        )}
        {End && <End {...part} />}
      </div>
    </Page>
  )
}
