import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { SelectField, TextField } from '../components/field.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { useMe } from '../state/session.ts'
import { isCodeVersion, isStrict, NO_OPTIONS, REASONING_LEVELS, type RunOptions } from './run-options.ts'

type Props = {
  agent: AgentRecord
  versions: VersionRecord[]
  /** The version that runs. */
  version: VersionRecord | undefined
  options: RunOptions
  /** By the name of the parameter. */
  problems: Partial<Record<string, string>>
  onChange: (options: RunOptions) => void
}

type TextName = 'tenantId' | 'model' | 'maxAgentSteps' | 'maxTokens' | 'maxCostUsd'

/** The options of a run: the query parameters of the API, without those that its version does not have. */
export function OptionsForm({ agent, versions, version, options, problems, onChange }: Props) {
  const boundTenant = useMe()?.tenantId ?? null
  const field = <Name extends keyof RunOptions>(name: Name) => ({
    value: options[name],
    onChange: (value: RunOptions[Name]) => onChange({ ...options, [name]: value }),
    problems: problems[name] === undefined ? [] : [problems[name]],
  })
  const text = (name: TextName, placeholder: string | undefined) => ({
    ...field(name),
    placeholder: placeholder ?? '',
  })
  const ofVersion = (isOn: boolean | undefined) =>
    `As in the version${isOn === undefined ? '' : ` (${isOn ? 'on' : 'off'})`}`
  const limits = version?.execution
  const isCode = isCodeVersion(version)
  const usable = versions.filter(
    ({ id, retiredAt }) => options.version === id || (id !== agent.currentVersionId && retiredAt === null),
  )
  return (
    <>
      <div class="fields">
        <SelectField
          label="Version"
          {...field('version')}
          choices={[
            ...(agent.currentVersionId === null ? [] : [['', 'Current'] as const]),
            ...usable.map((each) => [each.id, describeVersion(each)] as const),
          ]}
        />
        {boundTenant === null && <TextField label="Tenant" {...text('tenantId', 'none')} />}
        <SelectField
          label="Cache"
          {...field('useCache')}
          choices={[
            ['', ofVersion(limits?.useCache)],
            ['true', 'On: reuse the result of an identical run'],
            ['false', 'Off'],
          ]}
        />
        {!isCode && (
          <>
            <TextField
              label="Model"
              {...text('model', version?.model ?? 'as in the version')}
              suggestions={limits?.models ?? []}
            />
            <SelectField
              label="Reasoning"
              {...field('reasoning')}
              choices={[
                ['', 'As in the version'],
                ...REASONING_LEVELS.map((level) => [level, level] as const),
              ]}
            />
            <TextField
              label="Steps at most"
              {...text('maxAgentSteps', String(limits?.maxAgentSteps ?? 100))}
              inputMode="numeric"
            />
            <TextField
              label="Tokens at most"
              {...text('maxTokens', limits?.maxTokens?.toString() ?? 'no limit')}
              inputMode="numeric"
            />
            <TextField
              label="US dollars at most"
              {...text('maxCostUsd', limits?.maxCostUsd?.toString() ?? 'no limit')}
              inputMode="decimal"
            />
            <SelectField
              label="Dynamic learning"
              {...field('useDynamicLearning')}
              choices={[
                ['', ofVersion(version?.useDynamicLearning)],
                ['true', 'On: show the model similar past runs'],
                ['false', 'Off'],
              ]}
            />
          </>
        )}
      </div>
      <SelectField
        label="Input that does not match the schema"
        {...field('enforceInputSchema')}
        choices={[
          ['', isStrict(NO_OPTIONS, version) ? 'As the version: reject it' : 'As the version: adapt it'],
          ['true', 'Strict: reject it'],
          ['false', 'Adapt it'],
        ]}
      />
      {isCode && (
        <p class="muted">A code agent: there is no model to choose, and no limit of tokens or cost.</p>
      )}
    </>
  )
}

const describeVersion = ({ id, status, createdAt, retiredAt }: VersionRecord): string =>
  `${status === 'DRAFT' ? 'Draft' : 'Version'} ${shortId(id)}, ${formatTime(createdAt)}${retiredAt === null ? '' : ', retired'}`
