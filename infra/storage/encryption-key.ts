import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'

/**
 * A key for what the table and the queues hold. Whoever in the account may use those may use the key through them, and in
 * no other way; so roles need no right to it. It outlives the stack, as the table does.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
export function createKey(scope: Construct): Key {
  const { account, region, urlSuffix } = Stack.of(scope)
  const key = new Key(scope, 'Key', {
    description: 'Table and queues of the Agent Execution Service',
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN,
  })
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: [
        'kms:CreateGrant',
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey*',
        'kms:ReEncrypt*',
      ],
      resources: ['*'],
      conditions: {
        StringEquals: {
          'kms:CallerAccount': account,
          'kms:ViaService': ['dynamodb', 'sqs'].map((service) => `${service}.${region}.${urlSuffix}`),
        },
      },
    }),
  )
  return key
}
