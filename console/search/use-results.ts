import { useEffect, useMemo, useState } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import type { UsageRowRecord } from '../../lib/contract/records/usage.ts'
import { useAgents } from '../api/agents.ts'
import { requestPage } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { formatCountOf } from '../components/format.ts'
import { toHref, toPath } from '../state/location.ts'
import { readsAllTenants, useMe } from '../state/session.ts'
import { listLimits } from '../tenants/limits.ts'
import { toUsageQuery } from '../usage/periods.ts'
import { findId, formatList, type Item, matchTexts, type PastedId } from './find.ts'
import { findByKey, lookUp } from './look-up.ts'

export type Pages = { label: string; href: string }[]

const MAX_AGENTS = 8
const MAX_TENANTS = 5
const MAX_CODES = 5
/** Names of keys that are searched, each with a request, and the characters of a text that can be a key. */
const MAX_KEYS = 10
const MIN_KEY = 2

/** What codes of errors look like, in case none of the last days is meant. */
const ERROR_CODE = /^[A-Z][a-z]+(?:[A-Z][a-z]+)+$/

type Results = { items: Item[]; note: string; retry?: (() => void) | undefined }

/** Pages, agents, tenants and codes of errors whose names have the text; what has the ID or the key that it is. */
export function useResults(text: string, pages: Pages): Results {
  const me = useMe()
  const agents = useAgents()
  const mayRead = me?.scopes.includes('read') ?? false
  const query = text.trim()
  const pasted = useMemo(() => findId(text), [text])
  const { tenants, codes } = useNames(me, query !== '' && pasted === null)
  const lookedUp = useLookup(pasted, me)
  const listed = [...(agents?.values() ?? [])]
  const keyNames = [...new Set(listed.flatMap(({ keys = [] }) => keys))].slice(0, MAX_KEYS)
  const isKey = mayRead && pasted === null && keyNames.length > 0 && query.length >= MIN_KEY
  const { data: keyed } = useResource(isKey ? `key ${query}` : 'no key', async (signal) =>
    isKey ? findByKey(query, { names: keyNames, agents: agents ?? new Map(), signal }) : null,
  )

  if (pasted) return toLookupResults(lookedUp, mayRead)
  const found = matchTexts(pages, ({ label }) => label, query).map(
    ({ label, href }): Item => ({ kind: 'Page', title: label, href }),
  )
  const hint = mayRead ? 'Paste an ID, or type a part of a name.' : 'Type a part of a name.'
  if (query === '') return { items: found, note: hint }
  const named = matchTexts(listed, ({ title, slug }) => `${title} ${slug}`, query)
  const ofTenants = matchTexts(tenants, (tenant) => tenant, query)
  const ofCodes = matchTexts(codes, (code) => code, query).slice(0, MAX_CODES)
  const items: Item[] = [
    ...(keyed ?? []),
    ...named.slice(0, MAX_AGENTS).map(({ title, slug }) => ({
      ...{ kind: 'Agent', title, detail: slug, href: toHref(toPath('agents', slug)) },
    })),
    ...found,
    ...ofTenants.slice(0, MAX_TENANTS).map((tenant) => ({
      ...{ kind: 'Tenant', title: tenant, href: toHref(toPath('tenants', tenant)) },
    })),
    ...ofCodes.map((code) => toRunsItem(code, '7d')),
    ...(mayRead && ERROR_CODE.test(query) && !codes.includes(query) ? [toRunsItem(query)] : []),
    ...(mayRead && named.length > MAX_AGENTS
      ? [{ kind: 'Page', title: `All ${named.length} agents`, href: toHref('/agents', { search: query }) }]
      : []),
  ]
  if (items.length > 0) return { items, note: formatCountOf(items.length, 'result') }
  const places = [
    'pages',
    ...(agents ? ['agents'] : []),
    ...(isKey ? [`the keys ${formatList(keyNames)}`] : []),
    ...(mayRead ? ['tenants', 'error codes of the last 7 days'] : []),
  ]
  return { items, note: `Nothing found among ${formatList(places)}.` }
}

const toRunsItem = (errorCode: string, period?: '7d'): Item => ({
  kind: 'Runs',
  title: errorCode,
  detail: `Runs with this error code${period ? ' in the last 7 days' : ''}`,
  href: toHref('/runs', { status: 'ERROR', errorCode, period }),
})

function toLookupResults(
  { result, isLooking, retry }: ReturnType<typeof useLookup>,
  mayRead: boolean,
): Results {
  if (isLooking || !result)
    return { items: [], note: mayRead || isLooking ? 'Looking for this ID…' : UNREADABLE }
  const { items, places, failed } = result
  if (items.length > 0) return { items, note: formatCountOf(items.length, 'result') }
  if (places.length + failed.length === 0) return { items, note: UNREADABLE }
  const found = places.length > 0 ? `Not found among ${formatList(places)}. ` : ''
  if (failed.length === 0)
    return { items, note: `${found}It may have been deleted, or this token may not see it.` }
  const unread = formatList(failed.map(({ plural }) => plural))
  return { items, note: `${found}Could not look among ${unread}: ${failed[0]?.error.message}`, retry }
}

const UNREADABLE = 'This token may read nothing that has an ID.'

/** How long names of agents are waited for. */
const AGENTS_MS = 2_000

function useLookup(pasted: PastedId | null, me: MeRecord | null) {
  const agents = useAgents()
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), AGENTS_MS)
    return () => clearTimeout(timer)
  }, [])
  const isReady = pasted !== null && me !== null && (agents !== null || isLate)
  const { data, isLoading, reload } = useResource(
    isReady ? `${pasted.uuid} ${pasted.hex}` : 'no ID',
    async (signal) => (isReady ? lookUp(pasted, { me, agents: agents ?? new Map(), signal }) : null),
  )
  return { result: data, isLooking: pasted !== null && (isLoading || data === null), retry: reload }
}

type Names = { tenants: string[]; codes: string[] }

/** Tenants with limits or runs of the last days, and the codes of their errors, loaded once they are searched. */
function useNames(me: MeRecord | null, isNeeded: boolean): Names {
  const [hasBeenNeeded, setHasBeenNeeded] = useState(false)
  useEffect(() => {
    if (isNeeded) setHasBeenNeeded(true)
  }, [isNeeded])
  const isAllowed = me?.scopes.includes('read') ?? false
  const { data } = useResource(`names ${isAllowed && hasBeenNeeded}`, async (signal): Promise<Names> => {
    if (!isAllowed || !hasBeenNeeded) return { tenants: [], codes: [] }
    const seesAll = me !== null && readsAllTenants(me)
    const period = toUsageQuery('7d', Date.now(), seesAll ? { groupBy: 'tenant' } : {})
    const query = { ...period, limit: 1_000 }
    const [usage, limits] = await Promise.all([
      requestPage<Pick<UsageRowRecord, 'tenantId' | 'errors'>>('/v1/usage', { query, signal }),
      seesAll ? listLimits(signal) : null,
    ])
    const names = [...usage.items, ...(limits ?? [])].map(({ tenantId }) => tenantId)
    return {
      tenants: [...new Set(names.filter((name) => typeof name === 'string'))],
      codes: [...new Set(usage.items.flatMap(({ errors }) => Object.keys(errors)))],
    }
  })
  const { tenants = [], codes = [] } = data ?? {}
  return { tenants: me?.tenantId != null ? [me.tenantId] : tenants, codes }
}
