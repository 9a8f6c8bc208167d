import type { VersionDetails } from '../../lib/contract/records/agent.ts'
import { MAX_TENANT_ID } from '../../lib/core/access.ts'
import { TRIAL_FEEDBACK, TRIAL_RUNS } from '../../lib/core/trial.ts'
import { toLines } from '../components/format.ts'
import type { Query } from '../state/location.ts'

/** What a trial is started with. Kept in the URL, so that nothing is lost when the page is loaded again. */
export type TrialForm = ReturnType<typeof parseForm>

export function parseForm(query: URLSearchParams) {
  const get = (name: string) => query.get(name) ?? ''
  const feedback = get('feedback')
  return {
    /** Slug or ID. */
    agent: get('agent'),
    /** Empty: the draft, or else the newest one. */
    version: get('version'),
    limit: query.get('limit') ?? String(TRIAL_RUNS.default),
    /** Local date and time, as in `<input type="datetime-local">`. */
    from: get('from'),
    to: get('to'),
    tenantId: get('tenantId'),
    feedback: TRIAL_FEEDBACK.find((each) => each === feedback) ?? ('' as const),
    /** Names of tools that are called. */
    live: parseNames(get('live')),
    models: get('models') === 'recorded' ? ('recorded' as const) : ('live' as const),
    /** JSON Pointers, one per line. */
    ignore: get('ignore'),
    /** US dollars. */
    maxCost: get('maxCost'),
  }
}

/** Names of tools have no commas. */
const parseNames = (text: string): string[] => text.split(',').filter((name) => name !== '')

export const toFormQuery = ({ live, limit, models, ...form }: TrialForm): Query => ({
  ...form,
  limit: limit === String(TRIAL_RUNS.default) ? null : limit,
  models: models === 'live' ? null : models,
  live: live.join(','),
})

/** Tools that a trial may call: those that change nothing. Agents are never called. */
export const liveTools = ({ tools }: Pick<VersionDetails, 'tools'>): string[] =>
  tools.filter((tool) => tool.readOnly === true && tool.agent === undefined).map(({ name }) => String(name))

/** Whether the trial can call a model, so that its cost needs a limit. */
export const needsCostLimit = (
  { models }: Pick<TrialForm, 'models'>,
  { code }: Pick<VersionDetails, 'code'>,
): boolean => models === 'live' && !code

/** The body of the request. @param tools that the version may call */
export function toTrialBody(form: TrialForm, tools: string[]): Record<string, unknown> {
  const { limit, from, to, tenantId, feedback, live, models, ignore, maxCost } = form
  const called = live.filter((name) => tools.includes(name))
  const pointers = toLines(ignore)
  const body = {
    limit: limit === '' ? undefined : Number(limit),
    from: toIso(from),
    to: toIso(to),
    tenantId: tenantId === '' ? undefined : tenantId,
    feedback: feedback === '' ? undefined : feedback,
    tools: called.length === 0 ? undefined : Object.fromEntries(called.map((name) => [name, 'live'])),
    models,
    ignore: pointers.length === 0 ? undefined : pointers,
    maxTrialCostUsd: maxCost === '' ? undefined : Number(maxCost),
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** Undefined for what is no time, which an edited URL may contain. */
const toIso = (text: string): string | undefined =>
  Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString()

/** By the members of the request that they set. */
export const FIELDS = {
  limit: {
    ...{ label: 'Runs at most', help: 'The newest ones.', required: true },
    range: { ...TRIAL_RUNS, step: 1 },
  },
  from: { label: 'From', type: 'datetime-local' as const },
  to: { label: 'To', type: 'datetime-local' as const },
  tenantId: { label: 'Tenant', maxLength: MAX_TENANT_ID, placeholder: 'All' },
  feedback: {
    label: 'Feedback',
    choices: [
      ['', 'With and without'],
      ['corrected', 'Only corrected runs'],
      ['rated', 'Only rated runs'],
    ] as const,
  },
  tools: { label: 'Tools' },
  models: {
    label: 'Models',
    radios: {
      live: 'Live: the model of the version answers',
      recorded: 'Recorded, until a request differs from that of the original',
    },
  },
  ignore: {
    ...{ label: 'Not compared', isLong: true, placeholder: '/createdAt' },
    help: 'Parts of outputs and of what tools are asked, as JSON Pointers, one per line: times, for example.',
  },
  maxTrialCostUsd: { label: 'Cost limit' },
}
