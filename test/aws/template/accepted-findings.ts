/** Findings of checkov that are accepted: the check, the resources by type and logical id, and why. */
export type AcceptedFinding = { id: string; resources: RegExp; reason: string }

const FUNCTIONS = /^AWS::Lambda::Function\./
const KMS_SETTING =
  'A customer managed key has a fixed monthly price and is one more thing that can be disabled'

export const ACCEPTED_FINDINGS: AcceptedFinding[] = [
  {
    id: 'CKV_AWS_119',
    resources: /^AWS::DynamoDB::Table\.Table/,
    reason: `DynamoDB encrypts the table with a key of AWS. ${KMS_SETTING}: setting kms.`,
  },
  {
    id: 'CKV_AWS_27',
    resources: /^AWS::SQS::Queue\./,
    reason: `SQS encrypts the queues with keys of its own (SqsManagedSseEnabled). ${KMS_SETTING}: setting kms.`,
  },
  {
    id: 'CKV_AWS_26',
    resources: /^AWS::SNS::Topic\.AlarmTopic/,
    reason:
      'Notifications contain a metric and a number. They report a disabled key too, so they must not depend on one.',
  },
  {
    id: 'CKV_AWS_158',
    resources: /^AWS::Logs::LogGroup\./,
    reason:
      'CloudWatch Logs encrypts all logs with keys of its own. Lines contain ids, codes and numbers; inputs and outputs are in the table only.',
  },
  {
    id: 'CKV_AWS_33',
    resources: /^AWS::KMS::Key\.Key/,
    reason:
      'The statement is limited by kms:CallerAccount and kms:ViaService to principals of the account through DynamoDB and SQS, as AWS managed keys are.',
  },
  {
    id: 'CKV_AWS_115',
    resources: FUNCTIONS,
    reason:
      'A reservation takes concurrency from everything else in the account, and a new account has none to reserve: it is a setting.',
  },
  {
    id: 'CKV_AWS_116',
    resources: FUNCTIONS,
    reason:
      'Only asynchronous invocations use it. API Gateway invokes synchronously, the run queues have a dead-letter queue, and the next sweep repeats one that fails.',
  },
  {
    id: 'CKV_AWS_117',
    resources: FUNCTIONS,
    reason:
      'The functions call AWS, and those that run agents the hosts that agents name. A VPC adds a NAT gateway and no protection; for private hosts it is a setting, vpcId.',
  },
  {
    id: 'CKV_AWS_173',
    resources: FUNCTIONS,
    reason:
      'Lambda encrypts variables with a key of AWS. They contain names and numbers; secrets are read at run time.',
  },
  {
    id: 'CKV_AWS_120',
    resources: /^AWS::ApiGateway::Stage\./,
    reason:
      'Responses differ by token and change with every step. Results are cached by the service, by version, tenant and input.',
  },
  {
    id: 'CKV_AWS_192',
    resources: /^AWS::WAFv2::WebACL\./,
    reason:
      'The rule looks for attacks on Log4j, a library for Java, of which the service contains nothing. It would reject texts about them.',
  },
]
