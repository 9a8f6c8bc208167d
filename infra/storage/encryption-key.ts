import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'

/**
 * Creates the KMS key of the table and the queues. Every principal of the account can use it, but only through DynamoDB
 * and SQS, so that roles need no permission for the key itself. The key is retained with the table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
export function createKey(scope: Construct): Key {
  const { account, region, urlSuffix } = Stack.of(scope)
  const key = new Key(scope, 'Key', {
    description: 'Table and queues of the Agent Execution Service',
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
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
