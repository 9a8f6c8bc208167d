import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { nameOfVersion } from '../api/agents.ts'
import { toForm } from '../components/fields.tsx'
import { formatTime } from '../components/format.ts'
import { useMe } from '../state/session.ts'
import { isCodeVersion, isStrict, NO_OPTIONS, REASONING_LEVELS, type RunOptions } from './run-options.ts'

type Props = {
  agent: AgentRecord
  versions: VersionRecord[]
  version: VersionRecord | undefined
  options: RunOptions
  /** By the name of the parameter. */
  problems: Partial<Record<string, string>>
  onChange: (options: RunOptions) => void
}

const limit = (noun: string, ofVersion: number | null | undefined) => ({
  ...{ label: `${noun} at most`, inputMode: 'numeric' as const },
  placeholder: ofVersion?.toString() ?? 'no limit',
})

const toggle = (ofVersion: boolean | undefined, on: string) =>
  [
    ['', `As in the version${ofVersion === undefined ? '' : ` (${ofVersion ? 'on' : 'off'})`}`],
    ['true', on],
    ['false', 'Off'],
  ] as const

/** The options of a run: the query parameters of the API, without those that its version does not have. */
export function OptionsForm({ agent, versions, version, options, problems, onChange }: Props) {
  const boundTenant = useMe()?.tenantId ?? null
  const of = toForm(options, (change) => onChange({ ...options, ...change }))
  const limits = version?.execution
  const isCode = isCodeVersion(version)
  const usable = versions.filter(
    ({ id, retiredAt }) => options.version === id || (id !== agent.currentVersionId && retiredAt === null),
  )
  return (
    <>
      {of.row(
        {
          version: {
            label: 'Version',
            choices: [
              ...(agent.currentVersionId === null ? [] : [['', 'Current'] as const]),
              ...usable.map((each) => [each.id, describeVersion(each)] as const),
            ],
          },
          tenantId: boundTenant === null && { label: 'Tenant', placeholder: 'none' },
          enforceInputSchema: {
            label: 'Input that does not match the schema',
            choices: [
              ['', isStrict(NO_OPTIONS, version) ? 'As the version: reject it' : 'As the version: adapt it'],
              ['true', 'Strict: reject it'],
              ['false', 'Adapt it'],
            ],
          },
          useCache: {
            label: 'Cache',
            choices: toggle(limits?.useCache, 'On: reuse the result of an identical run'),
          },
          ...(!isCode && {
            model: {
              ...{ label: 'Model', placeholder: version?.model ?? 'as in the version' },
              suggestions: limits?.models ?? [],
            },
            reasoning: {
              label: 'Reasoning',
              choices: [
                ['', 'As in the version'],
                ...REASONING_LEVELS.map((level) => [level, level] as const),
              ],
            },
            maxAgentSteps: limit('Steps', limits?.maxAgentSteps ?? 100),
            maxTokens: limit('Tokens', limits?.maxTokens),
            maxCostUsd: { ...limit('US dollars', limits?.maxCostUsd), inputMode: 'decimal' },
            useDynamicLearning: {
              label: 'Dynamic learning',
              choices: toggle(version?.useDynamicLearning, 'On: show the model similar past runs'),
            },
          }),
        },
        problems,
      )}
      {isCode && (
        <p class="muted">
          {version?.remote ? 'A remote agent' : 'A code agent'}: there is no model to choose, and no limit of
          tokens or cost.
        </p>
      )}
    </>
  )
}

const describeVersion = ({ id, number, status, createdAt, retiredAt }: VersionRecord): string =>
  `${status === 'DRAFT' ? 'Draft' : 'Version'} ${nameOfVersion({ id, number })}, ${formatTime(createdAt)}${retiredAt === null ? '' : ', retired'}`
