import { CfnMapping, Stack, Token } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

const MODEL = 'amazon.nova-lite-v1:0'

/**
 * Where Amazon Nova Lite can be used, by the geography of its cross-region inference profile; `''` where the region has
 * the model itself. In most regions, Bedrock accepts the model only through a profile.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
 */
export const REGIONS = {
  us: ['us-east-1', 'us-east-2', 'us-west-1', 'us-west-2'],
  ca: ['ca-central-1', 'ca-west-1'],
  eu: ['eu-central-1', 'eu-north-1', 'eu-south-1', 'eu-south-2', 'eu-west-1', 'eu-west-3'],
  apac: [
    ...['ap-east-2', 'ap-northeast-1', 'ap-northeast-2', 'ap-south-1', 'ap-southeast-1', 'ap-southeast-2'],
    ...['ap-southeast-3', 'ap-southeast-4', 'ap-southeast-5', 'ap-southeast-7'],
  ],
  '': ['eu-west-2', 'me-central-1', 'us-gov-west-1'],
}

/** The default model of each region that has one, as `{provider}/{model}`. */
export const DEFAULT_MODELS: Record<string, string> = Object.fromEntries(
  Object.entries(REGIONS).flatMap(([geography, regions]) =>
    regions.map((region) => [region, `bedrock/${geography && `${geography}.`}${MODEL}`]),
  ),
)

/** @throws an Error if the region has no default model: CloudFormation would report that only when it deploys */
export function requireDefaultModel(region: string): string {
  const model = DEFAULT_MODELS[region]
  if (!model) throw new Error(`The region ${region} has no default model. Set defaultModel.`)
  return model
}

/**
 * The default model of the stack's region. A stack without a region in its environment looks it up in a mapping of its
 * template when it is deployed; CloudFormation rejects a region that the mapping does not contain.
 */
export function findDefaultModel(scope: Construct): string {
  const { region } = Stack.of(scope)
  if (!Token.isUnresolved(region)) return requireDefaultModel(region)
  const mapping = new CfnMapping(scope, 'DefaultModels', {
    mapping: Object.fromEntries(Object.entries(DEFAULT_MODELS).map(([name, model]) => [name, { model }])),
  })
  return mapping.findInMap(region, 'model')
}
