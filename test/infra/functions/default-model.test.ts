import { App, Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MODELS, findDefaultModel, REGIONS } from '../../../infra/functions/default-model.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  MODEL_FUNCTIONS,
} from '../../../infra/functions/function-settings.ts'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { OPTION_SETS } from '../all-options.ts'
import { statementsOf, synthesize, variablesOf } from '../synthesize.ts'

const ACCOUNT = '123456789012'
const template = synthesize()
const regions = Object.entries(REGIONS).flatMap(([geography, names]) =>
  names.map((region) => ({ geography, region, destinations: geography ? names : [region] })),
)

const findVariable = (of: typeof template, name: string) => variablesOf(of, name).DEFAULT_MODEL

const isAllowed = (patterns: string[], arn: string) =>
  patterns.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(arn))

/** The resources on which a function can invoke models, as IAM sees them in a region. */
function findModelResources(name: (typeof FUNCTION_NAMES)[number], region: string, partition: string) {
  const values: Record<string, string> = { Partition: partition, Region: region, AccountId: ACCOUNT }
  const action = 'bedrock:InvokeModelWithResponseStream'
  const resources = statementsOf(template, name).find(({ Action }) => Action === action)?.Resource as {
    'Fn::Join': [string, (string | { Ref: string })[]]
  }[]
  const resolve = (part: string | { Ref: string }) =>
    typeof part === 'string' ? part : values[part.Ref.replace('AWS::', '')]
  return resources.map((resource) => resource['Fn::Join'][1].map(resolve).join(''))
}

describe('the default model', () => {
  const inRegion = (region: string) => findDefaultModel(new Stack(new App(), 'InRegion', { env: { region } }))

  it.each([
    ['us-east-1', 'bedrock/us.amazon.nova-lite-v1:0'],
    ['eu-central-1', 'bedrock/eu.amazon.nova-lite-v1:0'],
    ['eu-west-2', 'bedrock/amazon.nova-lite-v1:0'],
    ['ap-southeast-2', 'bedrock/apac.amazon.nova-lite-v1:0'],
  ])('in %s is %s', (region, model) => {
    expect(inRegion(region)).toBe(model)
  })

  it('is a valid model name in every region', () => {
    for (const model of Object.values(DEFAULT_MODELS))
      expect(parseModelName(model)).toMatchObject({ provider: 'bedrock', reasoning: 'default' })
  })

  it('is unknown in other regions: the operator sets it', () => {
    const message = 'The region af-south-1 has no default model. Set defaultModel.'
    expect(() => inRegion('af-south-1')).toThrow(message)
  })

  it.each(FUNCTION_NAMES)('is looked up by the region of the deployment for %s if it needs one', (name) => {
    expect(findVariable(template, name)).toEqual(
      MODEL_FUNCTIONS.includes(name)
        ? { 'Fn::FindInMap': ['DefaultModels', { Ref: 'AWS::Region' }, 'model'] }
        : undefined,
    )
  })

  it('is in the mapping for every region', () => {
    expect(template.findMappings('DefaultModels').DefaultModels).toEqual(
      Object.fromEntries(Object.entries(DEFAULT_MODELS).map(([region, model]) => [region, { model }])),
    )
  })

  it('is the setting defaultModel if it is set, without a mapping', () => {
    const configured = synthesize(OPTION_SETS['every option'])
    expect(findVariable(configured, 'run-agent')).toBe('openai/gpt-5')
    expect(configured.findMappings('*')).toEqual({})
  })
})

describe.each(AGENT_FUNCTIONS)('the permissions of %s', (name) => {
  it.each(regions)('allow the default model in $region and where its profile routes to', (row) => {
    const { region, geography, destinations } = row
    const partition = region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
    const allowed = findModelResources(name, region, partition)
    const model = 'amazon.nova-lite-v1:0'
    const arns = destinations.map((to) => `arn:${partition}:bedrock:${to}::foundation-model/${model}`)
    if (geography)
      arns.push(`arn:${partition}:bedrock:${region}:${ACCOUNT}:inference-profile/${geography}.${model}`)
    for (const arn of arns) expect(isAllowed(allowed, arn), arn).toBe(true)
  })

  it('allow global profiles, whose model has no region, and no profile of another account', () => {
    const allowed = findModelResources(name, 'eu-central-1', 'aws')
    expect(isAllowed(allowed, 'arn:aws:bedrock:::foundation-model/amazon.nova-2-lite-v1:0')).toBe(true)
    const foreign = 'arn:aws:bedrock:eu-central-1:999999999999:inference-profile/eu.amazon.nova-lite-v1:0'
    expect(isAllowed(allowed, foreign)).toBe(false)
  })
})
