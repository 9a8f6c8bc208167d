import type { AgentRecord, VersionRecord } from '../../lib/contract/records/agent.ts'
import { Field } from '../components/field.tsx'
import { formatTime, shortId } from '../components/format.ts'
import { useMe } from '../state/session.ts'
import { isCodeVersion, REASONING_LEVELS, type RunOptions } from './run-options.ts'

type Problems = Partial<Record<string, string>>

type Props = {
  agent: AgentRecord
  versions: VersionRecord[]
  /** The version that runs. */
  version: VersionRecord | undefined
  options: RunOptions
  /** By the name of the parameter. */
  problems: Problems
  onChange: (options: RunOptions) => void
}

/** The options of a run: the query parameters of the API, without those that its version does not have. */
export function OptionsForm({ agent, versions, version, options, problems, onChange }: Props) {
  const boundTenant = useMe()?.tenantId ?? null
  const set = (change: Partial<RunOptions>) => onChange({ ...options, ...change })
  const text = (
    name: 'tenantId' | 'model' | 'maxAgentSteps' | 'maxTokens' | 'maxCostUsd',
    placeholder = '',
  ) => ({
    value: options[name],
    placeholder,
    autocomplete: 'off',
    spellcheck: false,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => set({ [name]: currentTarget.value }),
  })
  const limits = version?.execution
  const isCode = isCodeVersion(version)
  return (
    <div class="options">
      <Option label="Version" name="version" problems={problems}>
        {(attributes) => (
          <select
            {...attributes}
            value={options.version}
            onChange={({ currentTarget }) => set({ version: currentTarget.value })}
          >
            {agent.currentVersionId !== null && <option value="">Current</option>}
            {versions
              .filter(
                ({ id, retiredAt }) =>
                  options.version === id || (id !== agent.currentVersionId && retiredAt === null),
              )
              .map((each) => (
                <option key={each.id} value={each.id}>
                  {each.status === 'DRAFT' ? 'Draft' : 'Version'} {shortId(each.id)},{' '}
                  {formatTime(each.createdAt)}
                  {each.retiredAt !== null && ', retired'}
                </option>
              ))}
          </select>
        )}
      </Option>
      {boundTenant === null && (
        <Option label="Tenant" name="tenantId" problems={problems}>
          {(attributes) => <input {...attributes} {...text('tenantId', 'none')} />}
        </Option>
      )}
      <Option label="Cache" name="useCache" problems={problems}>
        {(attributes) => (
          <select
            {...attributes}
            value={options.useCache}
            onChange={({ currentTarget }) => set({ useCache: currentTarget.value as RunOptions['useCache'] })}
          >
            <option value="">As in the version{limits ? ` (${limits.useCache ? 'on' : 'off'})` : ''}</option>
            <option value="true">On: reuse the result of an identical run</option>
            <option value="false">Off</option>
          </select>
        )}
      </Option>
      {!isCode && (
        <>
          <Option label="Model" name="model" problems={problems}>
            {(attributes) => (
              <>
                <input
                  {...attributes}
                  {...text('model', version?.model ?? 'as in the version')}
                  list={`${attributes.id}-models`}
                />
                <datalist id={`${attributes.id}-models`}>
                  {limits?.models?.map((model) => (
                    <option key={model} value={model} />
                  ))}
                </datalist>
              </>
            )}
          </Option>
          <Option label="Reasoning" name="reasoning" problems={problems}>
            {(attributes) => (
              <select
                {...attributes}
                value={options.reasoning}
                onChange={({ currentTarget }) => set({ reasoning: currentTarget.value })}
              >
                <option value="">As in the version</option>
                {REASONING_LEVELS.map((level) => (
                  <option key={level}>{level}</option>
                ))}
              </select>
            )}
          </Option>
          <Option label="Steps at most" name="maxAgentSteps" problems={problems}>
            {(attributes) => (
              <input
                {...attributes}
                {...text('maxAgentSteps', String(limits?.maxAgentSteps ?? 100))}
                inputMode="numeric"
              />
            )}
          </Option>
          <Option label="Tokens at most" name="maxTokens" problems={problems}>
            {(attributes) => (
              <input
                {...attributes}
                {...text('maxTokens', limits?.maxTokens?.toString() ?? 'no limit')}
                inputMode="numeric"
              />
            )}
          </Option>
          <Option label="US dollars at most" name="maxCostUsd" problems={problems}>
            {(attributes) => (
              <input
                {...attributes}
                {...text('maxCostUsd', limits?.maxCostUsd?.toString() ?? 'no limit')}
                inputMode="decimal"
              />
            )}
          </Option>
          <Option label="Dynamic learning" name="useDynamicLearning" problems={problems}>
            {(attributes) => (
              <select
                {...attributes}
                value={options.useDynamicLearning}
                onChange={({ currentTarget }) =>
                  set({ useDynamicLearning: currentTarget.value as RunOptions['useDynamicLearning'] })
                }
              >
                <option value="">
                  As in the version{version ? ` (${version.useDynamicLearning ? 'on' : 'off'})` : ''}
                </option>
                <option value="true">On: show the model similar past runs</option>
                <option value="false">Off</option>
              </select>
            )}
          </Option>
        </>
      )}
      <div class="options-checks">
        <label class="choice">
          <input
            type="checkbox"
            checked={options.enforceInputSchema}
            onChange={({ currentTarget }) => set({ enforceInputSchema: currentTarget.checked })}
          />
          Strict: reject input that does not match the schema
        </label>
        {isCode && (
          <p class="muted">A code agent: there is no model to choose, and no limit of tokens or cost.</p>
        )}
      </div>
    </div>
  )
}

type OptionProps = Pick<Parameters<typeof Field>[0], 'label' | 'children'> & {
  name: string
  problems: Problems
}

function Option({ name, problems, ...field }: OptionProps) {
  const problem = problems[name]
  return <Field {...field} class="option" problems={problem === undefined ? [] : [problem]} />
}
